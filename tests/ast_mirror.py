"""Renders the lowered tree and Python's own `ast` into one form, so that they can be compared node by node."""

import ast

from amplint.model import tree
from amplint.model.walks import children

_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.FloorDiv: "//",
    ast.Invert: "~", ast.Not: "not", ast.UAdd: "+", ast.USub: "-", ast.And: "and", ast.Or: "or",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_KINDS = {
    "Expr": "ExprStmt", "AsyncFunctionDef": "FunctionDef", "AsyncFor": "For", "AsyncWith": "With",
    "UnaryOp": "Unary", "BinOp": "Binary", "ListComp": "Comprehension", "SetComp": "Comprehension",
    "DictComp": "Comprehension", "GeneratorExp": "Comprehension", "YieldFrom": "Yield", "TryStar": "Try",
}  # fmt: skip
# Python places these otherwise (or, for strings, only since 3.12 rightly), or they have no counterpart.
_UNPLACED = ("JoinedStr", "FormattedValue")


def from_ast(program: str) -> list[tuple[object, ...]]:
    """(kind, line, column, end line, end column, operator or name) of every expression and statement, sorted."""
    lines = [line.encode() for line in program.split("\n")]
    found: list[tuple[object, ...]] = []
    stack: list[ast.AST] = [ast.parse(program)]
    while stack:
        node = stack.pop()
        name = type(node).__name__
        if name in _UNPLACED or isinstance(node, ast.pattern):
            continue
        for child in ast.iter_child_nodes(node):
            is_argument = isinstance(child, ast.Starred) and isinstance(node, ast.Call | ast.ClassDef)
            stack.append(child.value if is_argument else child)
        if isinstance(node, ast.GeneratorExp):  # as the only argument, `ast` lends it the parentheses of the call
            found.append(("Comprehension",))
        elif isinstance(node, ast.Slice | ast.Tuple):  # inside brackets, LibCST counts white space and commas otherwise
            found.append((name, node.lineno))
        elif isinstance(node, ast.expr | ast.stmt):
            start = len(lines[node.lineno - 1][: node.col_offset].decode())
            end = len(lines[node.end_lineno - 1][: node.end_col_offset].decode())
            found.append((_KINDS.get(name, name), node.lineno, start, node.end_lineno, end, _detail(node)))
    return sorted(found, key=repr)


def _detail(node: ast.AST) -> object:
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.AugAssign):
        return _OPERATORS[type(node.op)]
    if isinstance(node, ast.Compare):
        return tuple(_OPERATORS[type(op)] for op in node.ops)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Call):
        return len(node.args) + len(node.keywords)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return None


def from_tree(module: tree.Module) -> list[tuple[object, ...]]:
    """The same of a lowered tree."""
    found: list[tuple[object, ...]] = []
    stack: list[tree.Node] = [module]
    while stack:
        node = stack.pop()
        if isinstance(node, tree.JoinedString | tree.Pattern):
            continue
        stack.extend(children(node))
        detail: object = None
        if isinstance(node, tree.Binary | tree.Unary | tree.BoolOp | tree.AugAssign):
            detail = node.op
        elif isinstance(node, tree.Compare):
            detail = node.ops
        elif isinstance(node, tree.Name):
            detail = node.id
        elif isinstance(node, tree.Attribute):
            detail = node.attr
        elif isinstance(node, tree.Constant):
            detail = repr(node.value)
        elif isinstance(node, tree.Call):
            detail = len(node.args)
        elif isinstance(node, tree.FunctionDef | tree.ClassDef):
            detail = node.name
        if isinstance(node, tree.Comprehension) and node.kind == "generator":
            found.append(("Comprehension",))
        elif isinstance(node, tree.Slice | tree.Tuple):
            found.append((type(node).__name__, node.span.line))
        elif isinstance(node, (*tree.Expr.__args__, *tree.Stmt.__args__)):
            found.append((type(node).__name__, *node.span, detail))
    return sorted(found, key=repr)
