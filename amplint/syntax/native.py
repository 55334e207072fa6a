"""From program text to the lowered tree by the interpreter's own parser, ten times as fast as by LibCST.

Refuses every program of which it is not certain that LibCST's visitors would build the same tree.
"""

import ast
import warnings

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.geometry import Geometry, UncertainError
from amplint.syntax.native_statements import NativeStatements


def lower_natively(program: str) -> tree.Module:
    """The lowered tree. Raises UncertainError where another parser has to read the program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parsed = ast.parse(program)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise UncertainError from None
    text = Geometry(program)
    visitors = NativeStatements(text)
    body = visitors.each(parsed.body)
    comments = tuple(
        tree.Comment(span, comment, not text.lines[span.line - 1][: span.column].strip())
        for span, comment in text.comments()
    )
    return tree.Module(Span(1, 0, program.count("\n") + 1, len(text.lines[-1])), body, comments)
