"""The modules that a program's text says it imports, found without parsing; resolves nothing."""

import re

from amplint.engine.digest import digest
from amplint.model.data import Value

# Behind the end of a line, which is found several times faster than the beginning of one.
_IMPORT = re.compile(
    r"\n[ \t]*(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]*import[ \t]*(?P<names>\([^)]*\)|[^\n#]*)"
    r"|import[ \t]+(?P<modules>[\w., \t]+))"
)
_NAME = re.compile(r"(?<!\w)([^\W\d]\w*)(?:[ \t]+as[ \t]+\w+)?")


class Imported(Value):
    """A module that may be imported: its name behind the leading dots, and their number."""

    level: int
    name: str


def imports_in(program: str) -> list[Imported]:
    """Every module that import statements may name; a name imported from a package may be a module of it."""
    found: list[Imported] = []
    for match in _IMPORT.finditer("\n" + program):
        if match["modules"]:
            found += [Imported(0, item.split()[0]) for item in match["modules"].split(",") if item.split()]
            continue
        level, module = len(match["dots"]), match["module"]
        if module:
            found.append(Imported(level, module))
        prefix = f"{module}." if module else ""
        found += [Imported(level, prefix + name) for name in _NAME.findall(match["names"])]
    return found


def imports_digest(program: str) -> str:
    """A name for what a program's text says it imports."""
    return digest(repr(imports_in(program)))


def absolute(imported: Imported, dotted_name: str, is_package: bool) -> str:
    """The absolute name of what a module imports."""
    if not imported.level:
        return imported.name
    parts = dotted_name.split(".") if dotted_name else []
    kept = len(parts) - imported.level + (1 if is_package else 0)
    return ".".join([*parts[: max(kept, 0)], imported.name])
