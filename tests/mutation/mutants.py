"""Makes small wrong changes of a module: the tests are to notice them."""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

COMPARED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr}
BOUNDS = ("MOST_", "DEEPEST", "LONGEST")


@dataclass(frozen=True)
class Mutant:
    """A module with one change, told in words."""

    path: Path
    lines: range  # from where its statement begins to where what changed ends: a run of it comes by here
    change: str
    source: str

    @property
    def line(self) -> int:
        """Where the change is."""
        return self.lines[-1]


def mutants(path: Path) -> list[Mutant]:
    """Every single change of a module, in source order."""
    return [mutant for number in range(_count(path)) if (mutant := _mutant(path, number))]


def sample(paths: list[Path], count: int, seed: int) -> list[Mutant]:
    """Some mutants of all modules together, the same for the same seed."""
    every = [(path, number) for path in sorted(paths) for number in range(_count(path))]
    random.Random(seed).shuffle(every)
    return list(islice(filter(None, (_mutant(*place) for place in every)), count))


def _count(path: Path) -> int:
    return sum(1 for _ in _places(ast.parse(path.read_text())))


def _mutant(path: Path, number: int) -> Mutant | None:
    """A module with one of its places changed, or None where that changes nothing."""
    text = path.read_text()
    tree = ast.parse(text)
    place = next(islice(_places(tree), number, None))
    before = ast.unparse(place.node).split("\n")[0]
    place.apply()
    ast.fix_missing_locations(tree)
    source = ast.unparse(tree)
    if source == ast.unparse(ast.parse(text)):
        return None
    return Mutant(path, place.lines, f"{place.kind}: {before[:90]}", source)


@dataclass
class _Place:
    kind: str
    node: ast.expr | ast.stmt
    holder: ast.AST
    field: str
    index: int | None
    lines: range

    def apply(self) -> None:
        new = _changed(self.kind, self.node)
        if self.index is None:
            setattr(self.holder, self.field, new)
        else:
            getattr(self.holder, self.field)[self.index] = new


def _places(tree: ast.AST) -> Iterator[_Place]:
    for holder, field, index, node, statement in _nodes(tree, 1):
        for kind in _kinds(node):
            last = (node.test if isinstance(node, ast.If) else node).end_lineno or node.lineno
            yield _Place(kind, node, holder, field, index, range(min(statement, last), last + 1))


def _nodes(tree: ast.AST, statement: int) -> Iterator[tuple[ast.AST, str, int | None, ast.expr | ast.stmt, int]]:
    """Expressions and statements that run, with where they hang and the line where their statement begins; no
    annotations, docstrings, decorators, bounds."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "type_comment", "bases"):
            continue
        if isinstance(tree, ast.keyword) and tree.arg == "strict":
            continue
        if isinstance(tree, ast.Assign) and any(ast.unparse(t).startswith(BOUNDS) for t in tree.targets):
            continue
        items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if not isinstance(item, ast.AST) or isinstance(item, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(item, ast.If) and "TYPE_CHECKING" in ast.unparse(item.test):
                continue
            start = item.lineno if isinstance(item, ast.stmt) else statement
            if isinstance(item, (ast.expr, ast.stmt)):
                yield tree, field, index, item, start
            yield from _nodes(item, start)


def _kinds(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield "compare"
        case ast.BoolOp():
            yield "and/or"
            yield "first part only"
        case ast.UnaryOp(op=ast.Not()):
            yield "no not"
        case ast.BinOp() if type(node.op) in OPERATED:
            yield "operator"
        case ast.Constant(value=bool()):
            yield "other truth"
        case ast.Constant(value=int()):
            yield "one more"
        case ast.IfExp():
            yield "always first"
            yield "always second"
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield "return None"
        case ast.Continue() | ast.Break():
            yield "no jump"
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign():
            yield "deleted"
        case ast.If(orelse=[]):
            yield "always"
            yield "never"
        case _:
            pass


def _changed(kind: str, node: ast.expr | ast.stmt) -> ast.AST:
    match kind, node:
        case "compare", ast.Compare():
            return ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
        case "and/or", ast.BoolOp():
            return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        case "first part only", ast.BoolOp():
            return node.values[0]
        case "no not", ast.UnaryOp():
            return node.operand
        case "operator", ast.BinOp():
            return ast.BinOp(node.left, OPERATED[type(node.op)](), node.right)
        case "other truth", ast.Constant():
            return ast.Constant(not node.value)
        case "one more", ast.Constant():
            return ast.Constant(int(str(node.value)) + 1)
        case "always first", ast.IfExp():
            return node.body
        case "always second", ast.IfExp():
            return node.orelse
        case "return None", _:
            return ast.Return(ast.Constant(None))
        case "no jump" | "deleted", _:
            return ast.Pass()
        case "always", ast.If():
            return ast.If(ast.Constant(True), node.body, [])
        case "never", ast.If():
            return ast.If(ast.Constant(False), node.body, [])
    raise AssertionError(kind)
