"""From program text to the lowered tree, by LibCST; knows nothing of files, encodings or newline styles."""

import ast
import re
import warnings

import libcst as cst

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.depth import is_too_deep
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.spans import Places
from amplint.syntax.statements import StatementVisitor

_FORM_FEED = re.compile(r"^[ \t\f]*\f(?=[ \t]*\S)", re.MULTILINE)


def lower(program: str) -> tree.Module:
    """The lowered tree of a program whose lines end in plain line feeds.

    Raises SyntaxFaultError where it does not parse and RecursionError where it is nested too deeply.
    """
    if is_too_deep(program):
        raise RecursionError("nested too deeply")
    text, shifts = _without_form_feeds(program)
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _fault(program, error) from None
    places = Places(module, text, shifts)
    body = StatementVisitor(places).block(module.body)
    comments = tuple(tree.Comment(span, text, places.is_first_on_line(span)) for span, text in places.comments)
    last = program.rpartition("\n")[2]
    return tree.Module(Span(1, 0, program.count("\n") + 1, len(last)), body, comments)


def _without_form_feeds(program: str) -> tuple[str, dict[int, int]]:
    """The program without form feeds before code, which LibCST loses count of, and by how much that moved a line."""
    if "\f" not in program:
        return program, {}
    shifts: dict[int, int] = {}
    for match in _FORM_FEED.finditer(program):
        shifts[program.count("\n", 0, match.start()) + 1] = len(match.group())
    return _FORM_FEED.sub("", program), shifts


def _fault(program: str, error: cst.ParserSyntaxError) -> SyntaxFaultError:
    """The fault in Python's own words where this interpreter rejects the program too; LibCST's are hard to read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(program)
        except SyntaxError as fault:
            return SyntaxFaultError(fault.msg, fault.lineno or 1, max((fault.offset or 1) - 1, 0))
        except ValueError as fault:
            return SyntaxFaultError(str(fault), 1, 0)
    # LibCST states the right place in its message only: raw_line is 1 for whatever its tokenizer let through.
    place = re.search(r"error at (\d+):(\d+): ", error.message)
    line, column = (int(place[1]), int(place[2])) if place else (error.raw_line, error.raw_column)
    return SyntaxFaultError(error.message, line, column)
