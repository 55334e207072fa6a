"""Where the nodes of Python's own `ast` stand, in code points; and what stands between two nodes.

Knows text, brackets and comments, not what nodes mean.
"""

import ast
import re
from bisect import bisect_right
from functools import cached_property

from amplint.model.span import Span

_COMMENT = re.compile(r"#[^\n]*")
_GAP = re.compile(r"(?:[\s\\]|#[^\n]*)*")
# What a sign begins: that it is one of three comes first, so that the search passes quickly over all others.
_TOKENS = re.compile(
    r"""[\#"'](?:
    (?<=\#)(?P<comment>[^\n]*)
    |(?<=")(?:""[^\\"]*+(?:(?:\\.|"(?!""))[^\\"]*+)*+\"\"\" | [^\\"\n]*+(?:\\.[^\\"\n]*+)*+")
    |(?<=')(?:''[^\\']*+(?:(?:\\.|'(?!''))[^\\']*+)*+''' | [^\\'\n]*+(?:\\.[^\\'\n]*+)*+'))""",
    re.VERBOSE | re.DOTALL,
)

_new = tuple.__new__


class UncertainError(Exception):
    """The text around a node is of a rare kind; whoever asked has to read the program with a full parser."""


class Geometry:
    """The text of one program that `ast` has parsed."""

    def __init__(self, program: str) -> None:
        self.program = program
        self._numbers = list(range(program.count("\n") + 2))

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.program.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [], 0
        for line in self.lines:
            starts.append(at)
            at += len(line) + 1
        return starts

    @cached_property
    def _wide(self) -> dict[int, bytes]:
        """The lines, by number, in which bytes and code points are not the same."""
        if self.program.isascii():
            return {}
        return {
            number: line.encode("utf-8", "surrogatepass")
            for number, line in enumerate(self.lines, start=1)
            if not line.isascii()
        }

    def _column(self, line: int, column: int) -> int:
        return len(self._wide[line][:column].decode("utf-8", "surrogatepass"))

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.alias | ast.keyword | ast.excepthandler) -> Span:
        """The span that `ast` gives a node. All spans share the numbers of lines, which take as much room as a span."""
        numbers = self._numbers
        line, column, end_line, end_column = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        wide = self._wide
        if wide:
            column = self._column(line, column) if line in wide else column
            end_column = self._column(end_line, end_column) if end_line in wide else end_column  # type: ignore[arg-type]
        # What `Span(…)` does, without the call of a function in Python that fills its arguments in.
        return _new(Span, (numbers[line], column, numbers[end_line], end_column))  # type: ignore[index]

    def offset(self, line: int, column: int) -> int:
        """The index in the program of a place."""
        return self._starts[line - 1] + column

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an index in the program."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def between(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """The text of a stretch that holds no string, its comments blanked out."""
        if line == end_line:
            return self.lines[line - 1][column:end_column]
        text = self.program[self.offset(line, column) : self.offset(end_line, end_column)]
        return _COMMENT.sub(lambda match: " " * len(match.group()), text) if "#" in text else text

    def with_brackets(self, span: Span, start: tuple[int, int], count: int) -> Span:
        """A span that starts at `start`, before so many opening parentheses, and ends behind as many closing ones."""
        at = self.offset(span.end_line, span.end_column)
        for _ in range(count):
            gap = _GAP.match(self.program, at)
            at = gap.end() if gap is not None else at
            if not self.program.startswith(")", at):
                raise UncertainError
            at += 1
        return Span(*start, *self.place(at))

    def inside(self, span: Span) -> Span:
        """What stands between the parentheses that a span begins and ends with, without white space and comments."""
        first = self.offset(span.line, span.column) + 1
        last = self.offset(span.end_line, span.end_column) - 1
        gap = _GAP.match(self.program, first)
        first = gap.end() if gap is not None else first
        text = self.program[first:last].rstrip()
        if "#" in text.rpartition("\n")[2]:
            raise UncertainError
        return Span(*self.place(first), *self.place(first + len(text)))

    def comments(self) -> list[tuple[Span, str]]:
        """Every comment, in source order."""
        if "#" not in self.program:
            return []
        found: list[tuple[Span, str]] = []
        for match in _TOKENS.finditer(self.program):
            if match["comment"] is not None:
                (line, column), text = self.place(match.start()), match.group()
                found.append((Span(line, column, line, column + len(text)), text))
        return found
