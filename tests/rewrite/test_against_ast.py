"""Every statement and call of real files: the rendered text is the program that `ast` makes of the same change."""

import ast
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplint.model.edit import DeleteArgument, DeleteStatement, InsertAfter, InsertArgument, InsertBefore, Repair
from amplint.model.span import Span
from amplint.rewrite.page import Page
from amplint.rewrite.render import Refusal, render
from amplint.syntax.lower import lower
from tests.rewrite.rendering import TableSpeller, splice

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "amplint").rglob("*.py"))[:: int(os.environ.get("AMPLINT_EVERY", "25"))]
ODD = '''\
if a: b(); c(d, *e, **f)
elif g: (h())
else: i(j for j in k); l()
@m
@n(o,
   p)
class Q(R, metaclass=S): t = u; v()
for w in x:
\ty(  # comment
\t\tz,

\t\taa  # last
\t)
\twhile bb: cc(); dd()
try: ee()
except FF: gg()
else:
   hh(ii)
finally: jj()
with kk, ll as mm: nn(
    oo,
    pp(qq))
match rr:
    case 1: ss()
    case _:
        tt((uu), vv=ww,); xx("#", ";", ")")
def yy(): """doc"""; return f"{zz('#')}"
lambda: (aaa(bbb,))
async def ccc():
    await ddd(
        eee=1,
        **fff,
    )
'''


def programs() -> Iterator[tuple[str, str]]:
    yield "odd", ODD
    for path in FILES:
        yield path.relative_to(ROOT).as_posix(), path.read_text()


PROGRAMS = dict(programs())
every_program = pytest.mark.parametrize("name", PROGRAMS)


@every_program
def test_statements_put_in(name: str) -> None:
    program = PROGRAMS[name]
    page = Page(program, lower(program))
    for number, (block, index) in enumerate(sampled(list(blocks(ast.parse(program))))):
        if is_elif(program, block[index]):
            continue
        kind, offset = (InsertBefore, 0) if number % 2 else (InsertAfter, 1)
        span = span_of(program, block[index])
        tree = ast.parse(program)
        twin = twin_block(tree, block, index)
        twin.insert(index + offset, ast.parse("new()").body[0])
        assert result(page, kind(span, "new()")) == ast.dump(tree), program.split("\n")[span.line - 1]


@every_program
def test_statements_taken_out(name: str) -> None:
    program = PROGRAMS[name]
    page = Page(program, lower(program))
    for block, index in sampled(list(blocks(ast.parse(program)))):
        if any(is_elif(program, statement) for statement in block):
            continue
        tree = ast.parse(program)
        twin = twin_block(tree, block, index)
        del twin[index]
        if not twin and twin is not tree.body:
            twin.append(ast.Pass())
        assert result(page, DeleteStatement(span_of(program, block[index]))) == ast.dump(tree)


@every_program
def test_arguments_put_in_and_taken_out(name: str) -> None:
    program = PROGRAMS[name]
    page = Page(program, lower(program))
    for call in sampled([node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]):
        span = span_of(program, call)
        tree = ast.parse(program)
        twin = twin_of(tree, call)
        repairs: list[Repair] = [InsertArgument(span, "new"), InsertArgument(span, "1", "key")]
        stars = [i for i, keyword in enumerate(twin.keywords) if keyword.arg is None]
        twin.keywords.insert(stars[0] if stars else len(twin.keywords), ast.keyword("key", ast.Constant(1)))
        if len(call.args) > 1 and not isinstance(call.args[-1], ast.Starred):
            repairs.append(DeleteArgument(span_of(program, call.args[-1])))
            del twin.args[-1]
        twin.args.insert(0, ast.Name("new", ast.Load()))
        assert result(page, *repairs) == ast.dump(tree), program.split("\n")[span.line - 1]


def result(page: Page, *repairs: Repair) -> str:
    edits = render(page, repairs, TableSpeller())
    assert not isinstance(edits, Refusal), (repairs, edits.reason)
    return ast.dump(ast.parse(splice(page.program, edits)))


def sampled(items: list) -> list:  # type: ignore[type-arg]
    return random.Random(0).sample(items, min(len(items), 15))


def blocks(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield from ((block, index) for index in range(len(block)))


def twin_block(tree: ast.AST, block: list[ast.stmt], index: int) -> list[ast.stmt]:
    """The same block in another tree of the same program."""
    place = (block[index].lineno, block[index].col_offset)
    found = [(b, i) for b, i in blocks(tree) if (b[i].lineno, b[i].col_offset) == place and i == index]
    return found[0][0]


def twin_of(tree: ast.AST, call: ast.Call) -> ast.Call:
    place = (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
    return next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == place
    )


def is_elif(program: str, statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and program.split("\n")[statement.lineno - 1].lstrip().startswith("elif")


def span_of(program: str, node: ast.stmt | ast.expr) -> Span:
    lines = [line.encode() for line in program.split("\n")]
    assert node.end_lineno is not None
    start = len(lines[node.lineno - 1][: node.col_offset].decode())
    end = len(lines[node.end_lineno - 1][: node.end_col_offset].decode())
    return Span(node.lineno, start, node.end_lineno, end)
