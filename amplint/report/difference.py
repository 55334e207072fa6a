"""A unified diff for a person, coloured by line; makes none."""

from typing import TextIO

from amplint.report.look import Look
from amplint.report.paint import Row, paint

_STYLES = {"---": "path", "+++": "path", "@@ ": "note"}


def write(changes: str, stream: TextIO, look: Look) -> None:
    """Write the lines of a diff."""
    rows: list[Row] = [[(line.removesuffix("\r"), _style(line))] for line in changes.removesuffix("\n").split("\n")]
    paint(rows, stream, look)


def _style(line: str) -> str:
    return _STYLES.get(line[:3]) or {"+": "fix", "-": "removed"}.get(line[:1], "")
