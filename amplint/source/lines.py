"""Text with its newlines as they are, and edits spliced into it line by line; knows nothing of bytes or notebooks."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplint.model.edit import Edit
    from amplint.model.span import Position

_NEWLINE = re.compile(r"\r\n|\r|\n")


def normalise(text: str) -> str:
    """The text with every newline as a line feed, as Python itself reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Lines:
    """Where the lines of a text start and which newline ends each of them ('' for the last)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        self.newlines: list[str] = []
        for match in _NEWLINE.finditer(text):
            self.newlines.append(match.group())
            self.starts.append(match.end())
        self.newlines.append("")

    def offset(self, position: "Position") -> int:
        """The index in the text of a position, both held inside their line."""
        if position.line > len(self.starts):
            return len(self.text)
        start = self.starts[position.line - 1]
        end = self.starts[position.line] - len(self.newlines[position.line - 1]) if self._has_next(position) else None
        limit = len(self.text) if end is None else end
        return min(start + position.column, limit)

    def _has_next(self, position: "Position") -> bool:
        return position.line < len(self.starts)

    def newline_at(self, line: int) -> str:
        """The newline that text written into a line should use: the line's own, else its neighbour's above."""
        for index in range(min(line, len(self.newlines)) - 1, -1, -1):
            if self.newlines[index]:
                return self.newlines[index]
        return "\n"


def splice(text: str, edits: "Sequence[Edit]") -> str:
    """The text with the edits made; every character outside their spans stays.

    New lines take the newline of the line that they replace. Raises ValueError where two edits overlap.
    """
    lines = Lines(text)
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        start, end = lines.offset(edit.span.start), lines.offset(edit.span.end)
        if start < done:
            raise ValueError(f"edits overlap in line {edit.span.line}")
        pieces += [text[done:start], _with_newlines(edit, lines)]
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _with_newlines(edit: "Edit", lines: Lines) -> str:
    first, *rest = edit.text.split("\n")
    replaced = range(edit.span.line, edit.span.end_line)
    written = [first]
    for index, part in enumerate(rest):
        line = replaced[index] if index < len(replaced) else edit.span.line
        written += [lines.newline_at(line), part]
    return "".join(written)
