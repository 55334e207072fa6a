"""The lowest torch that a project promises to run on, from its own dependency lists; installs and runs nothing."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from amplint.config.disk import read_plain
from amplint.config.usage import UsageError

Version = tuple[int, int]

_REQUIREMENT = re.compile(
    r"(?:[\w-]+::)?(?:torch|pytorch)(?![\w.-])(?:\[[^\]]*\])?\s*\(?"
    r"(?P<bounds>(?:(?:[<>!~]=?|={1,3}|\^)\s*v?[\w.*+!-]+\s*,?\s*)*)"
)
# a requirement and nothing behind it but a marker: other texts of a setup.py may begin like one
_WHOLE = re.compile(_REQUIREMENT.pattern + r"\)?\s*(?:;.*)?")
_BOUND = re.compile(r"(?P<sign>===|[<>=!~]=|[<>=^])\s*v?(?P<major>\d+)(?:\.(?P<minor>\d+))?")
# What is taken to be the lowest torch where a project does not say.
ASSUMED: Version = (2, 4)
# The first torch with automatic mixed precision: what an upper bound alone allows down to.
_FIRST_WITH_AMP: Version = (1, 6)
_ROOT_MARKS = frozenset({".git", "pyproject.toml", "setup.cfg", "setup.py"})


def parse_version(text: str, origin: str = "") -> Version:
    """`2.4`, `2.4.1`, `v2.4` as (2, 4). Raises UsageError, with the origin at its beginning."""
    match = re.fullmatch(r"v?(\d+)\.(\d+)(?:[.\w+]*)", text.strip())
    if match is None:
        raise UsageError(f"{origin}target-torch {text!r} is no version such as 2.4, nor `auto`")
    return int(match.group(1)), int(match.group(2))


def lower_bound(requirement: str) -> Version | None:
    """The lowest torch that a line of a dependency list admits, or None where it names none.

    An upper bound alone reaches down to the first torch with AMP.
    """
    match = _REQUIREMENT.match(requirement.strip().lstrip("- \"'"))
    if match is None:
        return None
    lowest: Version | None = None
    has_upper = False
    for bound in _BOUND.finditer(match.group("bounds")):
        version = int(bound["major"]), int(bound["minor"] or 0)
        if bound["sign"] in (">=", "==", "===", "~=", ">", "=", "^"):
            lowest = version if lowest is None else max(lowest, version)
        elif bound["sign"] in ("<", "<="):
            has_upper = True
    if lowest is None and has_upper:
        return _FIRST_WITH_AMP
    return lowest


class ProjectTorch:
    """The lowest torch of the projects that folders belong to, each folder looked into once."""

    def __init__(self) -> None:
        self._found: dict[Path, Version | None] = {}

    def of(self, directory: Path) -> Version | None:
        """Looks into the folder and those above it, up to the project's root; the first list that bounds torch decides.

        None where no list does.
        """
        if directory not in self._found:
            names = _names(directory)
            version = _stated(directory, names)
            if version is None and not names & _ROOT_MARKS and directory.parent != directory:
                version = self.of(directory.parent)
            self._found[directory] = version
        return self._found[directory]


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _stated(folder: Path, names: set[str]) -> Version | None:
    """What the dependency lists in one folder say."""
    requirements = [name for name in sorted(names) if name.startswith("requirements") and name.endswith(".txt")]
    kinds: tuple[tuple[Sequence[str], Callable[[str], Iterable[str]]], ...] = (
        (("pyproject.toml",), _from_pyproject),
        (requirements, str.splitlines),
        (("setup.cfg",), _from_setup_cfg),
        (("setup.py",), _from_setup_py),
        (("environment.yml", "environment.yaml"), str.splitlines),
    )
    for lists, lines in kinds:
        texts = [_read(folder / name) for name in lists if name in names]
        version = _lowest(line for text in texts if "torch" in text for line in lines(text))
        if version is not None:
            return version
    return None


def _lowest(requirements: Iterable[str]) -> Version | None:
    versions = [version for line in requirements if (version := lower_bound(line)) is not None]
    return min(versions, default=None)


def _read(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _from_pyproject(text: str) -> Iterator[str]:
    import tomllib

    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    project, poetry = _table(content, "project"), _table(content, "tool", "poetry")
    yield from _texts(project.get("dependencies"))
    for extra in (*_table(project, "optional-dependencies").values(), *_table(content, "dependency-groups").values()):
        yield from _texts(extra)
    yield from _from_poetry(_table(poetry, "dependencies").get("torch"))
    for group in _table(poetry, "group").values():
        yield from _from_poetry(_table(group, "dependencies").get("torch"))


def _table(content: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def _from_poetry(given: Any) -> Iterator[str]:
    """`"^2.1"`, `{version = "~2.1"}`, or a list of these, as requirements: there `~` means `~=`, and nothing `==`."""
    for each in given if isinstance(given, list) else (given,):
        version = each.get("version") if isinstance(each, dict) else each
        if isinstance(version, str):
            bounds = (part.strip() for part in version.split(","))
            yield "torch" + ",".join(re.sub(r"^~(?=\d)", "~=", re.sub(r"^(?=\d)", "==", bound)) for bound in bounds)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _from_setup_cfg(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield line.partition("install_requires")[2].lstrip(" =") or line


def _from_setup_py(text: str) -> Iterator[str]:
    """The requirements that are written down in a setup script, wherever in it; nothing of it runs."""
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    yield from (value for value in texts if isinstance(value, str) and _WHOLE.fullmatch(value.strip()))
