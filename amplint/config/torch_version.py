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
        project = tomllib.loads(text).get("project", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    if not isinstance(project, dict):
        return
    yield from _texts(project.get("dependencies"))
    optional = project.get("optional-dependencies")
    if isinstance(optional, dict):
        for extra in optional.values():
            yield from _texts(extra)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _from_setup_cfg(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield line.partition("install_requires")[2].lstrip(" =") or line
