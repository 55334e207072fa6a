"""A line of source with marks below it, cut to a width; knows nothing of findings."""

import unicodedata

from amplint.model.data import Value

TAB = 4


class Excerpt(Value):
    """What is shown of a line, and below it the column and length of the marks, in cells of a terminal."""

    text: str
    start: int
    length: int


def excerpt(line: str, start: int, end: int, width: int) -> Excerpt:
    """The part of a line around the characters from start to end that fits a width.

    Tabs are widened, control characters are made visible, wide characters count double.
    """
    cells = [_visible(character) for character in line]
    widths = [_width(cell) for cell in cells]
    start = min(start, len(cells))
    end = min(max(end, start), len(cells))
    first, last = 0, len(cells)
    if sum(widths) > width:
        first, last = _window(widths, start, end, max(width - 2, 8))
    head = "…" if first else ""
    tail = "…" if last < len(cells) else ""
    offset = len(head) + sum(widths[first:start])
    length = sum(widths[start : min(end, last)])
    return Excerpt(head + "".join(cells[first:last]).rstrip() + tail, offset, max(length, 1))


def _window(widths: list[int], start: int, end: int, width: int) -> tuple[int, int]:
    """The characters that fit: the marked ones, some before them for context, and as many behind as there is room."""
    first = start
    room = width - min(sum(widths[start:end]), width)
    before = min(room // 2, 24) if sum(widths[:end]) > width else width
    while first > 0 and widths[first - 1] <= before:
        first -= 1
        before -= widths[first]
    last = first
    while last < len(widths) and widths[last] <= width:
        width -= widths[last]
        last += 1
    return first, last


def _visible(character: str) -> str:
    if character == "\t":
        return " " * TAB
    return character if character.isprintable() else "·"


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    if unicodedata.combining(cell):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1
