"""A folder that looks like another one: real folders, links to its files. What is created there stays there.

Knows folders; a program that overwrites a file of the original through its link would have done so without it, too.
"""

import os
from pathlib import Path

_MOST_HERE = 200
"""Entries of a folder up to which it is made anew; a larger one is data, and linked as a whole."""

_MOST = 5_000
_DEEPEST = 4


def link_all(source: Path, target: Path, depth: int = 0) -> int:
    """Fill an empty folder with links to everything in another one. Returns the number of links and folders made."""
    made = 0
    with os.scandir(source) as entries:
        for entry in entries:
            if target.is_relative_to(entry.path) or made >= _MOST:
                continue
            place = target / entry.name
            made += 1
            if entry.is_dir(follow_symlinks=False) and _is_made_anew(entry, depth):
                place.mkdir()
                made += link_all(Path(entry.path), place, depth + 1)
            else:
                place.symlink_to(os.path.abspath(entry.path))
    return made


def _is_made_anew(entry: "os.DirEntry[str]", depth: int) -> bool:
    if depth >= _DEEPEST or entry.name.startswith("."):
        return False
    try:
        with os.scandir(entry.path) as inner:
            return sum(1 for _ in inner) <= _MOST_HERE
    except OSError:
        return False
