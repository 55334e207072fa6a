"""Applies edits as a reader of the JSON output would, knowing nothing of how amplint splices."""

import io
import json
import re
import tokenize
from collections.abc import Sequence
from typing import Any


def apply_json(raw: bytes, edits: Sequence[dict[str, Any]], is_notebook: bool) -> bytes | list[str]:
    """The file with edits in JSON form made; of a notebook the sources of its cells."""
    if is_notebook:
        cells = cell_sources(raw)
        for number in {edit["cell"] for edit in edits}:
            inside = [edit for edit in edits if edit["cell"] == number]
            cells[number - 1] = _apply(cells[number - 1], inside)
        return cells
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    mark = "\ufeff" if raw.startswith(b"\xef\xbb\xbf") else ""
    text = raw.decode(encoding).removeprefix(mark) if mark else raw.decode(encoding)
    written = _apply(text, edits)
    return (b"\xef\xbb\xbf" if mark else b"") + written.encode("utf-8" if mark else encoding)


def cell_sources(raw: bytes) -> list[str]:
    """The sources of a notebook's cells."""
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


def _apply(text: str, edits: Sequence[dict[str, Any]]) -> str:
    newline = next((newline for newline in ("\r\n", "\n", "\r") if newline in text), "\n")
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def offset(place: dict[str, int]) -> int:
        return starts[place["row"] - 1] + place["column"] - 1 if place["row"] <= len(starts) else len(text)

    for edit in sorted(edits, key=lambda edit: (offset(edit["location"]), offset(edit["end_location"])), reverse=True):
        new = edit["content"].replace("\n", newline)
        text = text[: offset(edit["location"])] + new + text[offset(edit["end_location"]) :]
    return text
