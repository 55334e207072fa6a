"""Path patterns in the dialect of .gitignore, without negation; knows no file system."""

import re
from collections.abc import Sequence
from pathlib import PurePath


class Globs:
    """Patterns relative to a root. One without a slash matches a name at any depth, one with a slash from the root."""

    def __init__(self, patterns: Sequence[str], root: PurePath) -> None:
        self.root = root
        body = "|".join(_regex(pattern) for pattern in patterns)
        self._itself = re.compile(body) if patterns else None
        self._or_below = re.compile(f"(?:{body})(?:/.*)?") if patterns else None

    def match(self, path: PurePath) -> bool:
        """Whether a path (absolute, or relative to the root), or a folder above it within the root, matches."""
        return self._or_below is not None and self._or_below.fullmatch(relative_to(path, self.root)) is not None

    def match_itself(self, path: PurePath) -> bool:
        """Whether a path matches, whatever the folders above it do."""
        return self._itself is not None and self._itself.fullmatch(relative_to(path, self.root)) is not None


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
    parts: list[str] = [] if anchored else ["(?:.*/)?"]
    index = 0
    while index < len(body):
        if body.startswith("**/", index):
            parts.append("(?:.*/)?")
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
