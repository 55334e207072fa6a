"""Metadata and pages of all rules, read from their files without running them; what they check stays unknown.

Importing every rule with the facts behind it takes longer than a command that explains one may take.
"""

import ast
import os
from functools import cache
from typing import NamedTuple

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_BEGIN = "\nRULE = Rule(\n"


class Entry(NamedTuple):
    """One rule: the values of its metadata as text, and its page."""

    code: str
    name: str
    severity: str
    fix: str
    contract: str
    since: str
    is_default: bool
    is_preview: bool
    page: str


@cache
def rule_names() -> dict[str, str]:
    """The names of all rules by their codes, in order, from the names of their files."""
    stems = sorted(
        name[:-3]
        for name in os.listdir(_FOLDER)
        if name.startswith("amp") and name[3:4].isdigit() and name.endswith(".py")
    )
    return {stem[:6].upper(): stem[7:].replace("_", "-") for stem in stems}


def catalogue() -> tuple[Entry, ...]:
    """All rules, ordered by code. Raises ValueError for a rule's file that does not state its metadata plainly."""
    return tuple(map(entry, rule_names()))


@cache
def entry(code: str) -> Entry:
    """The rule of a code."""
    path = os.path.join(_FOLDER, f"{code}_{rule_names()[code]}.py".lower().replace("-", "_"))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # What follows the metadata, the rule itself, is most of the file, and says nothing about it.
    end = text.find("\n)\n", text.find(_BEGIN))
    module = ast.parse(text[: end + 2] if end >= 0 else text)
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="RULE")], value=ast.Call(keywords=keywords)):
                values = {str(keyword.arg): _value(keyword.value) for keyword in keywords}
                is_default = values.pop("is_default", "True") == "True"
                is_preview = values.pop("is_preview", "False") == "True"
                page = ast.get_docstring(module, clean=False) or ""
                return Entry(**values, is_default=is_default, is_preview=is_preview, page=page)
    raise ValueError(f"{path} has no RULE")


def _value(node: ast.expr) -> str:
    """A literal, or the value of an enum's member, which is its name in small letters."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Attribute(attr=member):
            return member.lower()
    raise ValueError(f"line {node.lineno}: metadata has to be literal")
