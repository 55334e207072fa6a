"""Where in the user's program something happened: the innermost frame that is the user's own.

Knows the frames of the interpreter; knows nothing of what happened there.
"""

import linecache
import os
import sys
import sysconfig
from functools import cache
from types import CodeType
from typing import NamedTuple


class Site(NamedTuple):
    """A call in the user's program: lines from 1, columns from 0 in code points, the end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Site("", 0, 0, 0, 0)

_TOOL = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STDLIB = tuple(
    os.path.join(os.path.realpath(sysconfig.get_path(name)), "") for name in ("stdlib", "platstdlib")
) + tuple(os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib"))


@cache
def is_user_file(path: str) -> bool:
    """Whether code of this file is the user's: not generated, not of the tool, the library or an installed package."""
    if path.startswith("<"):
        return False
    full = os.path.abspath(path)
    if full.startswith(_TOOL) or f"{os.sep}site-packages{os.sep}" in full or f"{os.sep}dist-packages{os.sep}" in full:
        return False
    return not full.startswith(_STDLIB)


def site_of_caller() -> Site:
    """The innermost frame of the stack that is the user's, or NOWHERE."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return _place(frame.f_code, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return NOWHERE


def site_of_callers_caller() -> Site:
    """The user's frame that called the innermost one of theirs, or NOWHERE: where a helper was called from."""
    frame, found = sys._getframe(1), 0
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            found += 1
            if found == 2:
                return _place(frame.f_code, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return NOWHERE


def is_called_by_user(depth: int = 2) -> bool:
    """Whether the frame so many levels up is the user's own: nothing of torch stands between."""
    return is_user_file(sys._getframe(depth).f_code.co_filename)


# By identity: to hash a code object is to hash all its names and constants. Holding the code keeps its number its own.
_places: dict[tuple[int, int], tuple[CodeType, Site]] = {}


def _place(code: CodeType, instruction: int, line: int) -> Site:
    key = (id(code), instruction)
    found = _places.get(key)
    if found is None:
        found = _places[key] = (code, _position(code, instruction, line))
    return found[1]


def _position(code: CodeType, instruction: int, line: int) -> Site:
    path = os.path.abspath(code.co_filename)
    for number, position in enumerate(code.co_positions()):
        if number * 2 == instruction:
            start, end, column, end_column = position
            if start is None or end is None or column is None or end_column is None:
                break
            return Site(path, start, _code_points(path, start, column), end, _code_points(path, end, end_column))
    return Site(path, line, 0, line, 0)


def _code_points(path: str, line: int, column: int) -> int:
    """The interpreter counts columns in UTF-8 bytes."""
    text = linecache.getline(path, line)
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))
