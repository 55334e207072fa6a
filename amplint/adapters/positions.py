"""Places of a program as places of an editor's documents: lines from 0, columns in the client's units, cells apart.

Knows no server and no finding.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from lsprotocol import types

from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.span import Position, Span
from amplint.source.text import Source

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
Units = Callable[[str], int]


class Sheet(Value):
    """One file of an editor: a document, or a notebook with a document for each of its cells.

    uris holds the one document, or all cells in order, those without code too. units counts a text in the units of
    columns that client and server agreed on. newline is what the documents end their lines with.
    """

    source: Source
    uris: tuple[str, ...]
    units: Units
    newline: str = "\n"

    def place(self, span: Span) -> types.Location:
        """Where a span stands; the end of one that leaves its cell is counted from the cell's start."""
        uri, first = self._document(span.line)
        start = types.Position(span.line - first, self._column(span.start))
        end = types.Position(span.end_line - first, self._column(span.end))
        return types.Location(uri, types.Range(start, end))

    def text_edit(self, edit: Edit) -> tuple[str, types.TextEdit]:
        """The document that an edit belongs to, and the edit in it."""
        location = self.place(edit.span)
        return location.uri, types.TextEdit(location.range, edit.text.replace("\n", self.newline))

    def line(self, uri: str, line: int) -> int | None:
        """The line of the program (from 1) for a line of a document (from 0); None where it has no code."""
        if self.source.notebook is None:
            return line + 1
        number = self.uris.index(uri) + 1
        for cell in self.source.notebook.cells:
            if cell.number == number:
                return cell.first_line + line
        return None

    def touches(self, span: Span, uri: str, place: types.Range) -> bool:
        """Whether a span stands in a document and meets a range of it."""
        own = self.place(span)
        starts = (own.range.start.line, own.range.start.character), (place.start.line, place.start.character)
        ends = (own.range.end.line, own.range.end.character), (place.end.line, place.end.character)
        return own.uri == uri and max(starts) <= min(ends)

    def _document(self, line: int) -> tuple[str, int]:
        """The document of a line of the program, and the line of the program that is the document's first."""
        cell = self.source.cell_of(line)
        return (self.uris[0], 1) if cell is None else (self.uris[cell[0] - 1], line - cell[1] + 1)

    def _column(self, position: Position) -> int:
        lines = self.source.lines
        if not 0 < position.line <= len(lines):
            return 0
        return self.units(lines[position.line - 1][: position.column])


def difference(before: Source, after: Source) -> Iterator[Edit]:
    """Edits that turn one program into another, of whole lines and each within its cell; cells stay in number."""
    for (first, old_text), (_, new_text) in zip(_parts(before), _parts(after), strict=True):
        old, new = _LINE.findall(old_text), _LINE.findall(new_text)
        for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                line, column = _end(old, end)
                yield Edit(Span(first + start, 0, first + line - 1, column), "".join(new[new_start:new_end]))


def _parts(source: Source) -> Iterator[tuple[int, str]]:
    """The pieces of a program that edits may not cross, each with its first line."""
    if source.notebook is None:
        yield 1, source.program
        return
    for cell in source.notebook.cells:
        yield cell.first_line, "\n".join(source.lines[cell.first_line - 1 : cell.first_line - 1 + cell.line_count])


def _end(lines: Sequence[str], count: int) -> tuple[int, int]:
    """The position after a number of lines."""
    if count and not lines[count - 1].endswith("\n"):
        return count, len(lines[count - 1])
    return count + 1, 0
