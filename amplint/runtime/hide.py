"""Keeps the tool's frames out of what a program is shown: where a warning comes from, and tracebacks that it prints.

Knows Python's modules for both; knows nothing of what the tool's frames do.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

from amplint.runtime.patch import Patches

_TOOL = os.path.dirname(os.path.abspath(__file__)) + os.sep
_WALKERS = ("walk_tb", "walk_stack", "_walk_tb_with_full_positions")


def keep_out_of_sight(patches: Patches) -> None:
    """Patch the modules `warnings` and `traceback` of this process."""
    patches.wrap(warnings, "_showwarnmsg", _at_the_programs_line)
    for name in _WALKERS:
        patches.wrap(traceback, name, _without_own_frames)


def is_own(frame: FrameType) -> bool:
    """Whether a frame is the tool's."""
    return frame.f_code.co_filename.startswith(_TOOL)


def _at_the_programs_line(original: Any) -> Any:
    """A warning that C code raises names the innermost frame of Python, whatever file that is of."""

    def show(message: Any) -> None:
        if message.filename.startswith(_TOOL):
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and is_own(frame):
                frame = frame.f_back
            if frame is not None:
                message.filename, message.lineno, message.line = frame.f_code.co_filename, frame.f_lineno, None
        original(message)

    return show


def _without_own_frames(original: Any) -> Any:
    def walk(*args: Any, **kwargs: Any) -> Iterator[Any]:
        return (entry for entry in original(*args, **kwargs) if not is_own(entry[0]))

    return walk
