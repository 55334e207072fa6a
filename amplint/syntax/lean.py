"""Loads LibCST for a process that does nothing but have it read; knows nothing of what is read.

Two fifths of the time that LibCST takes to load go into code by which its nodes are compared, shown and kept from
change. Reading needs none of that. It must not be done where somebody else may use LibCST.
"""

import dataclasses
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

_UNNEEDED: Final = {"repr": False, "eq": False, "order": False, "unsafe_hash": False, "frozen": False}


def load_lean() -> None:
    """Import LibCST with data classes that can only be built, and the visitors that read its nodes."""
    whole = dataclasses.dataclass

    def lean(cls: type | None = None, **given: Any) -> type | Callable[[type], type]:
        given |= _UNNEEDED
        return whole(**given) if cls is None else whole(cls, **given)

    dataclasses.dataclass = lean  # type: ignore[assignment]  # for as long as the import takes
    try:
        import_module("libcst")
    finally:
        dataclasses.dataclass = whole
    import_module("amplint.syntax.lower")
