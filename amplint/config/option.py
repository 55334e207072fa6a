"""What an option is and how one is declared; knows no option by name."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a value looks like. A table maps path patterns to lists."""

    SWITCH = "switch"
    TEXT = "text"
    LIST = "list"
    TABLE = "table"


class Group(StrEnum):
    """The heading under which help and documentation show an option."""

    RULES = "Rules"
    FIXES = "Fixes"
    FILES = "Files"
    MEANING = "Meaning of the code"
    OUTPUT = "Output"
    ADOPTION = "Adoption on an old tree"
    RUN = "Configuration and run"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: key in a configuration file, flags on the command line, where either exists."""

    name: str
    kind: Kind
    group: Group
    help: str
    default: Any
    flags: tuple[str, ...]
    is_key: bool
    choices: tuple[str, ...]
    metavar: str
    example: str

    @property
    def key(self) -> str:
        """The name in a configuration file."""
        return self.name.replace("_", "-")


def option(
    kind: Kind,
    group: Group,
    text: str,
    *flags: str,
    default: Any = None,
    is_key: bool = True,
    choices: tuple[str, ...] = (),
    metavar: str = "",
    example: str = "",
) -> Any:
    """A dataclass field that carries an option; flags follow the help text."""
    details = (kind, group, text, flags, is_key, choices, metavar, example)
    return field(default=default, metadata={"option": details})


def switch(group: Group, text: str, *flags: str, is_key: bool = True, default: bool = False, example: str = "") -> Any:
    """A field that is on or off; a second flag that starts with `--no-` turns it off."""
    return option(Kind.SWITCH, group, text, *flags, default=default, is_key=is_key, example=example)


def list_of(group: Group, text: str, *flags: str, default: Any = (), metavar: str = "", example: str = "") -> Any:
    """A field that holds several texts; on the command line they are separated by commas."""
    return option(Kind.LIST, group, text, *flags, default=default, metavar=metavar, example=example)
