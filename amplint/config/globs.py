"""Path patterns in the dialect of .gitignore, without negation; knows no file system."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath

_ANYWHERE = "(?:.*/)?"


class Globs:
    """Patterns relative to a root. One without a slash matches a name at any depth, one with a slash from the root."""

    def __init__(self, patterns: Sequence[str], root: PurePath) -> None:
        self.root = root
        self._or_below = _any(map(_regex, patterns), "(?:/.*)?")
        # A walk asks about names by the thousand, and most patterns need to see nothing else of a path.
        self._names = _any(_regex(item).removeprefix(_ANYWHERE) for item in patterns if not _is_of_paths(item))
        self._paths = _any(_regex(item) for item in patterns if _is_of_paths(item))

    def match(self, path: PurePath) -> bool:
        """Whether a path (absolute, or relative to the root), or a folder above it within the root, matches."""
        return self._or_below is not None and self._or_below.fullmatch(relative_to(path, self.root)) is not None

    def test_in(self, folder: str) -> Callable[[str], bool]:
        """A test of names in an absolute folder: whether one matches, whatever the folders above it do."""
        inside = os.path.join(self.root, "")
        prefix = os.path.join(folder, "")[len(inside) :] if folder.startswith(inside) else ""
        prefix = prefix.replace(os.sep, "/")
        names, paths = self._names, self._paths
        if paths is None:
            return lambda name: names is not None and names.fullmatch(name) is not None
        return lambda name: (
            (names is not None and names.fullmatch(name) is not None) or paths.fullmatch(prefix + name) is not None
        )


def _is_of_paths(pattern: str) -> bool:
    """Whether a pattern needs more of a path than its last name."""
    return "/" in pattern.strip().rstrip("/").removeprefix("./") or "**" in pattern


def _any(expressions: Iterable[str], end: str = "") -> re.Pattern[str] | None:
    body = "|".join(expressions)
    return re.compile(f"(?:{body}){end}") if body else None


def relative_to(path: PurePath, root: PurePath) -> str:
    """The path from the root in slashes; one that is not below it keeps only its name."""
    if not path.is_absolute():
        return path.as_posix()
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def _regex(pattern: str) -> str:
    """A regular expression that matches the relative paths that a pattern names."""
    body = pattern.strip().rstrip("/").removeprefix("./")
    anchored = "/" in body
    body = body.lstrip("/")
    parts: list[str] = [] if anchored else [_ANYWHERE]
    index = 0
    while index < len(body):
        if body.startswith("**/", index):
            parts.append(_ANYWHERE)
            index += 3
        elif body.startswith("**", index):
            parts.append(".*")
            index += 2
        else:
            index = _translate_sign(body, index, parts)
    return "".join(parts)


def _translate_sign(body: str, index: int, parts: list[str]) -> int:
    """Append the expression for the sign at an index; returns the index behind it."""
    sign = body[index]
    if sign == "*":
        parts.append("[^/]*")
    elif sign == "?":
        parts.append("[^/]")
    elif sign == "[" and "]" in body[index + 2 :]:
        end = body.index("]", index + 2)
        inner = body[index + 1 : end].replace("\\", r"\\")
        parts.append("[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]")
        return end + 1
    else:
        parts.append(re.escape(sign))
    return index + 1
