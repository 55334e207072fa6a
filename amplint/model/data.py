"""The bases of data classes: built, compared and hashed in C, and loaded without writing code. Knows no class."""

from typing import dataclass_transform

from msgspec import Struct, field


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """What never changes, and equals whatever has equal fields."""


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Entity(Struct, frozen=True, eq=False):
    """What never changes, and equals only itself."""
