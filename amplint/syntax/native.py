"""From program text to the lowered tree by the interpreter's own parser, ten times as fast as by LibCST.

Refuses every program of which it is not certain that LibCST's visitors would build the same tree.
"""

import ast
import re
import warnings
from collections.abc import Iterator

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.geometry import Geometry, UncertainError
from amplint.syntax.native_statements import NativeStatements

# Characters from which on a program is parsed in pieces: `ast` takes some 300 bytes for each of them.
_MANY = 60_000
# A line that may begin a statement of the module. Where it stands in a string or in brackets, the piece that ends
# before it does not parse.
_BEGINNING = re.compile(r"^(?!(?:else|elif|except|finally)\b)[@A-Za-z_]", re.MULTILINE)


def lower_natively(program: str) -> tree.Module:
    """The lowered tree. Raises UncertainError where another parser has to read the program."""
    text = Geometry(program)
    visitors = NativeStatements(text)
    body: list[tree.Stmt] = []
    for piece in _pieces(program):
        body += visitors.each(piece)
    comments = tuple(
        tree.Comment(span, comment, not text.lines[span.line - 1][: span.column].strip())
        for span, comment in text.comments()
    )
    return tree.Module(Span(1, 0, program.count("\n") + 1, len(text.lines[-1])), tuple(body), comments)


def _pieces(program: str) -> Iterator[list[ast.stmt]]:
    """The statements of a program, of a long one some at a time, each where it stands in the whole."""
    start, reach, lines = 0, _MANY, 0
    while (border := _BEGINNING.search(program, reach)) is not None:
        end = border.start()
        statements = _statements(program[start:end], lines)
        if statements is None:
            reach = 2 * end - start
            continue
        yield statements
        lines += program.count("\n", start, end)
        start, reach = end, end + _MANY
    statements = _statements(program[start:], lines)
    if statements is None:
        raise UncertainError
    yield statements


def _statements(text: str, lines: int) -> list[ast.stmt] | None:
    """What is parsed from a text below so many lines, None where it is no program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse("\n" * lines + text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
