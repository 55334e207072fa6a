"""Where the source strings of a notebook's cells stand in its JSON text; knows nothing of Python.

Python's own decoder skips every value that is not wanted, so that outputs of megabytes cost little.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

_SPACE = re.compile(r"[ \t\r\n]*")
# Numbers are of no interest, and Python refuses to read very long ones.
_DECODER = json.JSONDecoder(strict=False, parse_int=len)


class RawCell(Struct):
    """A cell's kind and metadata, and the place of each source string as (start, end, value) in the text.

    is_list says whether the source is a list of lines or one string.
    """

    members: dict[str, Any] = field(default_factory=dict)
    strings: list[tuple[int, int, str]] = field(default_factory=list)
    is_list: bool = False


def read_cells(text: str) -> tuple[dict[str, Any], list[RawCell]]:
    """The members of a notebook but its cells, and the cells. Raises ValueError where the text is not such JSON."""
    reader = _Reader(text)
    members: dict[str, Any] = {}
    cells: list[RawCell] = []
    for key in reader.members():
        if key == "cells":
            cells = [_read_cell(reader) for _ in reader.items()]
            members[key] = True
        else:
            members[key] = reader.value()
    reader.skip_space()
    if reader.at != len(text):
        raise reader.error("text behind the end")
    return members, cells


def _read_cell(reader: "_Reader") -> RawCell:
    cell = RawCell()
    for key in reader.members():
        if key != "source":
            cell.members[key] = reader.value()
            continue
        cell.is_list = reader.peek() == "["
        for _ in reader.items() if cell.is_list else (None,):
            reader.skip_space()
            start = reader.at
            value = reader.value()
            if not isinstance(value, str):
                raise reader.error("a source that is not text")
            cell.strings.append((start, reader.at, value))
    return cell


class _Reader:
    """A place in a JSON text. Whoever iterates over members or items reads each value before the next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        if match:
            self.at = match.end()

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.at : self.at + 1]

    def error(self, message: str) -> ValueError:
        return json.JSONDecodeError(message, self.text, self.at)

    def take(self, signs: str) -> str:
        sign = self.peek()
        if not sign or sign not in signs:
            raise self.error(f"expected {' or '.join(signs)}")
        self.at += 1
        return sign

    def value(self) -> Any:
        self.skip_space()
        value, self.at = _DECODER.raw_decode(self.text, self.at)
        return value

    def members(self) -> Iterator[str]:
        self.take("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            self.take(":")
            yield str(key)
            if self.take(",}") == "}":
                return

    def items(self) -> Iterator[None]:
        self.take("[")
        if self.peek() == "]":
            self.at += 1
            return
        while True:
            yield None
            if self.take(",]") == "]":
                return
