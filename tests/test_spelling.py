"""What `spelled` writes of an expression is that expression again, or nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplint.facts.program.spelling import spelled
from amplint.model.tree import Expr, Module, Node
from amplint.model.walks import walk
from amplint.syntax.parse import parse

FIXTURES = Path(__file__).parent / "fixtures"
SHAPES = """\
(a - b).mean()
-a.b
(-a).b
-(a + b)
a ** b
(-a) ** b
-a ** b
(a + b)[0]
f(a - b, k=-1)
(a * b) / c
a - (b - c)
a[b + 1].c(d % e)
(a if b else c).d
(a, b)[0]
1.0.real
(1).real
"text".join(a)
not a
f(*a, **b)
"""
EXPRESSIONS: tuple[type, ...] = Expr.__args__


def _dumped(text: str) -> str:
    return ast.dump(ast.parse(text, mode="eval"))


def _written(module: Module, program: str) -> Iterator[tuple[str, str]]:
    """What is spelled of each expression of a program, beside its own text."""
    lines = program.splitlines()
    for node in walk(module):
        code = spelled(node) if isinstance(node, EXPRESSIONS) else ""
        if code:
            yield code, _text(node, lines)


def _text(node: Node, lines: list[str]) -> str:
    span = node.span
    if span.line == span.end_line:
        return lines[span.line - 1][span.column : span.end_column]
    inner = lines[span.line : span.end_line - 1]
    return "\n".join((lines[span.line - 1][span.column :], *inner, lines[span.end_line - 1][: span.end_column]))


@pytest.mark.parametrize("shape", SHAPES.splitlines())
def test_shapes(shape: str) -> None:
    for code, text in _written(parse(shape + "\n"), shape):
        assert _dumped(code) == _dumped(f"({text})")


def test_every_expression_of_the_fixtures() -> None:
    count = 0
    for path in sorted(FIXTURES.rglob("*.py")):
        program = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").lstrip("\ufeff")
        try:
            ast.parse(program)
        except (SyntaxError, ValueError):
            continue
        for code, text in _written(parse(program), program):
            assert _dumped(code) == _dumped(f"({text})"), f"{path}: {text}"
            count += 1
    assert count > 10_000
