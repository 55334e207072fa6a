"""What fixes change in a file, as a unified diff that `patch` and `git apply` take; touches no disk."""

import difflib
import os
import re
from collections.abc import Iterator

from amplint.source.text import Source

_ODD = re.compile(rb'[\x00-\x1f\x7f"\\]')
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+")


def diff(before: Source, after: Source) -> bytes:
    """The diff of a file's bytes; empty where nothing changed.

    That of a notebook is one of its JSON; behind the place of each change stands the cell.
    """
    name = _name(os.fsencode(before.path))
    old, new = _lines(before.raw), _lines(after.raw)
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, fromfile=name, tofile=name)
    cells = list(_changed_cells(before, after))
    return b"".join(_with_cells(line, cells) for line in lines)


def _name(path: bytes) -> bytes:
    """A path as the heads of a diff name it: quoted as git does where it could be taken for something else."""
    if _ODD.search(path):
        return b'"' + _ODD.sub(lambda odd: b"\\%03o" % odd[0][0], path) + b'"'
    return path + b"\t" if b" " in path else path  # a tab ends a name that has spaces in it


def _lines(raw: bytes) -> list[bytes]:
    """Only line feeds end the lines of a diff; a carriage return before one stays on its line."""
    lines = [line + b"\n" for line in raw.removesuffix(b"\n").split(b"\n")] if raw else []
    if lines and not raw.endswith(b"\n"):
        lines[-1] += b"\\ No newline at end of file\n"
    return lines


def _changed_cells(before: Source, after: Source) -> Iterator[tuple[int, int, int]]:
    """The cells of a notebook that changed: first and last line in the JSON, number."""
    if before.notebook is None or after.notebook is None:
        return
    text = before.raw.decode(before.encoding, errors="replace")
    for old, new in zip(before.notebook.cells, after.notebook.cells, strict=True):
        if old.text != new.text and old.strings:
            start, end = old.strings[0][0], old.strings[-1][1]
            yield text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1, old.number


def _with_cells(line: bytes, cells: list[tuple[int, int, int]]) -> bytes:
    head = _HUNK.match(line) if cells else None
    if head is None:
        return line
    first = int(head[1])
    last = first + int(head[2] or 1)
    numbers = [str(number) for start, end, number in cells if start < last and end >= first]
    return f"{line.decode().rstrip()} cell {', '.join(numbers)}\n".encode()
