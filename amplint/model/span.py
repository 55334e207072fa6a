"""Places in a program: lines count from 1, columns from 0 in code points; knows nothing of files or cells."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple


class Position(NamedTuple):
    """A place between two characters.

    line counts from 1 over the lines of the program text, column from 0 in code points.
    """

    line: int
    column: int


class Span(NamedTuple):
    """A half-open stretch of program text, from (line, column) up to (end_line, end_column)."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> Position:
        """Where the span begins."""
        return Position(self.line, self.column)

    @property
    def end(self) -> Position:
        """The place just behind the last character."""
        return Position(self.end_line, self.end_column)

    def contains(self, other: "Span") -> bool:
        """Whether the other span lies inside this one (ends may touch)."""
        return self.start <= other.start and other.end <= self.end

    def touches(self, other: "Span") -> bool:
        """Whether the spans share a character or a boundary; two such edits may not be applied together."""
        return self.start <= other.end and other.start <= self.end


class Spans:
    """Many spans in order that do not overlap, asked about by others."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts = [span.start for span in spans]
        self._ends = [span.end for span in spans]

    def touch(self, other: Span) -> bool:
        """Whether one of them touches another span."""
        at = bisect_left(self._ends, other.start)
        return at < len(self._ends) and self._starts[at] <= other.end

    def contain(self, other: Span) -> bool:
        """Whether another span lies inside one of them."""
        at = bisect_left(self._ends, other.end)
        return at < len(self._ends) and self._starts[at] <= other.start
