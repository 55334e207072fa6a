"""Path patterns in the dialect of .gitignore, without negation; knows no file system."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath, PureWindowsPath

_ANYWHERE = "(?:.*/)?"
# One of some signs, as `[a-z]` or `[!a-z]`; a bracket that comes first is one of them.
_SIGNS = re.compile(r"\[(?P<not>[!^]?+)(?P<signs>.[^\]]*)\]")
# What a backslash may stand before, where it is no separator.
_SPECIAL = "*?[]!#\\ "


class PatternError(ValueError):
    """A pattern is none, or can match nothing; the message says what to write."""


class Globs:
    """Patterns relative to a root. One without a slash matches a name at any depth, one with a slash from the root.

    Raises PatternError.
    """

    def __init__(self, patterns: Sequence[str], root: PurePath) -> None:
        self.root = root
        patterns = [_from_root(pattern, root) for pattern in patterns]
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


def _from_root(pattern: str, root: PurePath) -> str:
    """A pattern with the separators that patterns have, a whole path made one from the root."""
    if isinstance(root, PureWindowsPath):
        pattern = pattern.replace("\\", "/")
    above = root.as_posix().rstrip("/")
    return pattern.removeprefix(above) if pattern.startswith(f"{above}/") else pattern


def _is_of_paths(pattern: str) -> bool:
    """Whether a pattern needs more of a path than its last name."""
    return "/" in pattern.strip().rstrip("/").removeprefix("./") or "**" in pattern


def _any(expressions: Iterable[str], end: str = "") -> re.Pattern[str] | None:
    body = "|".join(expressions)
    try:
        return re.compile(f"(?:{body}){end}") if body else None
    except re.error as error:
        raise PatternError(f"a pattern cannot be read: {error.msg}") from error


def relative_to(path: PurePath, root: PurePath) -> str:
    """The path from the root in slashes; one that is not below it keeps only its name."""
    if not path.is_absolute():
        return path.as_posix()
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def _regex(pattern: str) -> str:
    """A regular expression that matches the relative paths that a pattern names. Raises PatternError."""
    body = pattern.strip().rstrip("/").removeprefix("./")
    if body.startswith("!"):
        raise PatternError(f"pattern {pattern!r}: there are no exceptions from other patterns here")
    if ".." in body.split("/"):
        raise PatternError(f"pattern {pattern!r}: it can match nothing, for it leads out of its folder")
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
    elif sign == "[" and (found := _SIGNS.match(body, index)) is not None:
        inner = re.sub(r"([\\\[\]&|~^])", r"\\\1", found["signs"])
        parts.append(f"(?!/)[{'^' if found['not'] else ''}{inner}]")
        return found.end()
    elif sign == "\\":
        sign = body[index + 1 : index + 2]
        if not sign or sign not in _SPECIAL:
            raise PatternError(
                f"pattern {body!r}: write `/` between folders; a backslash has a sign stand for itself, as in `\\[`"
            )
        parts.append(re.escape(sign))
        return index + 2
    else:
        parts.append(re.escape(sign))
    return index + 1
