"""Styled lines written to a stream, plain or in colour; knows nothing of what the lines say.

rich is imported only where colour is wanted.
"""

from collections.abc import Iterable
from typing import TextIO

from amplint.report.look import Look

Segment = tuple[str, str]
Row = list[Segment]

_STYLES = {
    "": "",
    "path": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "advice": "bold blue",
    "note": "cyan",
    "gutter": "blue",
    "fix": "green",
    "dim": "dim",
}


def paint(rows: Iterable[Row], stream: TextIO, look: Look) -> None:
    """Write rows, one a line. Unknown styles are the reader's mistake and raise KeyError."""
    if not look.is_colored:
        for row in rows:
            stream.write("".join(text for text, _ in row).rstrip() + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, highlight=False, soft_wrap=True, color_system="standard")
    for row in rows:
        console.print(Text.assemble(*((text, _STYLES[style]) for text, style in row)), soft_wrap=True)
