"""Styled lines written to a stream, plain or in colour; knows nothing of what the lines say.

rich is imported only where colour is wanted.
"""

from collections.abc import Iterable, Mapping
from typing import TextIO

from amplint.report.look import Look
from amplint.report.visible import visible

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
    "removed": "red",
}


def paint(rows: Iterable[Row], stream: TextIO, look: Look, links: Mapping[str, str] | None = None) -> None:
    """Write rows, one a line; on a terminal the texts that links name lead to an address.

    Unknown styles are the caller's mistake and raise KeyError.
    """
    if not look.is_colored:
        for row in rows:
            stream.write(visible("".join(text for text, _ in row).rstrip()) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    # The lines are as wide as they shall be; of what is not said here, rich asks the environment.
    width = look.width or 80
    console = Console(
        file=stream,
        force_terminal=True,
        highlight=False,
        soft_wrap=True,
        color_system="standard",
        width=width,
        height=width,
    )
    addresses = links or {} if look.width is not None else {}
    for row in rows:
        parts = ((visible(text), _style(_STYLES[style], addresses.get(text))) for text, style in row)
        console.print(Text.assemble(*parts), soft_wrap=True)


def _style(style: str, address: str | None) -> str:
    return f"{style} link {address}".strip() if address else style
