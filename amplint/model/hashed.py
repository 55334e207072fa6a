"""Values that work out their hash once; they must not leave their process. Knows nothing of what they hold."""

from dataclasses import field
from typing import TypeVar

T = TypeVar("T")


def hash_field() -> int:
    """The field `_hash` of a frozen dataclass that `hashed_once` decorates."""
    return field(default=0, init=False, repr=False, compare=False)


def hashed_once(kind: type[T]) -> type[T]:
    """Let the instances of a frozen dataclass keep their hash: a large value, asked for it again and again."""
    work_out = kind.__hash__

    def known_hash(self: T) -> int:
        known: int = self._hash  # type: ignore[attr-defined]
        if not known:
            known = work_out(self)
            object.__setattr__(self, "_hash", known)
        return known

    kind.__hash__ = known_hash  # type: ignore[method-assign,assignment]
    return kind
