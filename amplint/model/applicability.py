"""How far fixes are trusted and what they change; apart from the repairs, for runs that find nothing load little."""

from enum import StrEnum


class Applicability(StrEnum):
    """How far a fix may be trusted without a person reading it."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class FixKind(StrEnum):
    """Whether a fix keeps the numbers of a training run (migration) or changes them on purpose (repair)."""

    MIGRATION = "migration"
    REPAIR = "repair"
