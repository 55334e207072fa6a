"""What an option is and how one is declared; knows no option by name."""

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


class Option:
    """One option: key in a configuration file, flags on the command line, where either exists.

    Stands in the body of a class, under its name; flags follow the help text.
    """

    name = ""

    def __init__(
        self,
        kind: Kind,
        group: Group,
        text: str,
        *flags: str,
        default: Any = None,
        is_key: bool = True,
        choices: tuple[str, ...] = (),
        metavar: str = "",
        example: str = "",
    ) -> None:
        self.kind, self.group, self.help, self.flags = kind, group, text, flags
        self.default, self.is_key, self.choices, self.metavar, self.example = default, is_key, choices, metavar, example

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def key(self) -> str:
        """The name in a configuration file."""
        return self.name.replace("_", "-")


def option(*described: Any, **more: Any) -> Any:
    """An option in the place of its value, whose type the class that holds it states."""
    return Option(*described, **more)


def switch(group: Group, text: str, *flags: str, is_key: bool = True, default: bool = False, example: str = "") -> Any:
    """A field that is on or off; a second flag that starts with `--no-` turns it off."""
    return option(Kind.SWITCH, group, text, *flags, default=default, is_key=is_key, example=example)


def list_of(group: Group, text: str, *flags: str, default: Any = (), metavar: str = "", example: str = "") -> Any:
    """A field that holds several texts; on the command line they are separated by commas."""
    return option(Kind.LIST, group, text, *flags, default=default, metavar=metavar, example=example)
