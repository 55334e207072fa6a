"""How output may look on a stream: width, colour; asks the environment once and knows no format."""

import os
from collections.abc import Mapping
from typing import TextIO

from amplint.model.data import Value


class Look(Value):
    """width is the number of columns of a terminal, None where lines may be of any length."""

    width: int | None = None
    is_colored: bool = False


def look_of(stream: TextIO, color: str, environment: Mapping[str, str]) -> Look:
    """The look for a stream. color is auto, always or never; NO_COLOR and FORCE_COLOR count for auto."""
    is_terminal = stream.isatty()
    if color != "auto":
        is_colored = color == "always"
    elif environment.get("NO_COLOR"):
        is_colored = False
    elif environment.get("FORCE_COLOR"):
        is_colored = True
    else:
        is_colored = is_terminal and environment.get("TERM") != "dumb"
    return Look(_columns(stream, environment) if is_terminal else None, is_colored)


def _columns(stream: TextIO, environment: Mapping[str, str]) -> int:
    if environment.get("COLUMNS", "").isdecimal():
        return max(int(environment["COLUMNS"]), 20)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, 20)
    except OSError:
        return 80
