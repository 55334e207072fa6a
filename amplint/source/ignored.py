"""What the lines of a .gitignore say of one path in its folder; knows no disk, nor the folders around a path.

pathspec reads the patterns. It lets one that fits a folder stand for all that is in it, also where it takes an ignored
name back; git asks each folder on the way by itself, and so does whoever walks.
"""

import re
from collections.abc import Callable, Iterator

from pathspec import GitIgnoreSpec

# The group in which a pattern of pathspec's holds the slash behind the folder that it fits.
_SLASH = "ps_d"


def opinion_of(text: str) -> Callable[[str], bool | None]:
    """A test of paths, those of folders with a slash at their end: True is ignored, False not, None for no opinion."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    patterns = [pattern for line in lines for pattern in _patterns(line)]

    def opinion(path: str) -> bool | None:
        return next((is_ignored for is_ignored, regex in reversed(patterns) if _fits(regex, path)), None)

    return opinion


def _patterns(line: str) -> Iterator[tuple[bool, re.Pattern[str]]]:
    """What a line of a .gitignore asks; git passes over one that cannot be read."""
    try:
        patterns = list(GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error):
        return
    for pattern in patterns:
        if pattern.include is not None and pattern.regex is not None:
            yield pattern.include, pattern.regex


def _fits(regex: re.Pattern[str], path: str) -> bool:
    """Whether a pattern fits a path itself, and not only a folder above it."""
    name = path.removesuffix("/")
    if any(_slash(found) < 0 for found in regex.finditer(name)):
        return True
    return path != name and any(_slash(found) == len(name) for found in regex.finditer(path))


def _slash(found: re.Match[str]) -> int:
    return found.start(_SLASH) if _SLASH in found.re.groupindex else -1
