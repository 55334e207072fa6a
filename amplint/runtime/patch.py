"""Replaces attributes of torch's classes and modules for the length of a run; knows nothing of why."""

import contextlib
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

Make = Callable[[Any], Any]


class Patches:
    """Attributes that were replaced, newest last, so that they can be put back."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, bool]] = []

    def wrap(self, owner: Any, name: str, make: Make) -> None:
        """Replace a function by `make(function)`, which keeps its name, signature and documentation.

        A name that this torch does not have is left out.
        """
        original = getattr(owner, name, None)
        if original is None:
            return
        replacement = _passed_over(make(original))
        with contextlib.suppress(AttributeError, TypeError):
            functools.update_wrapper(replacement, original)
        self.set(owner, name, replacement)

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Give an attribute another value."""
        is_own = name in vars(owner)
        self._undo.append((owner, name, vars(owner).get(name), is_own))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            owner, name, value, is_own = self._undo.pop()
            if is_own:
                setattr(owner, name, value)
            else:
                delattr(owner, name)


def _passed_over(function: Any) -> Any:
    """A function whose frames `warnings.warn` passes over when it counts levels up to the culprit.

    It does so for files of this name, which are those of Python's own import system (bpo-24305).
    """
    if isinstance(function, FunctionType):
        code = function.__code__
        function.__code__ = code.replace(co_filename=f"{code.co_filename}:importlib._bootstrap")
    return function
