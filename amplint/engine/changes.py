"""Which lines of a file are new since a revision, as git knows it; reads the repository and writes nothing."""

import difflib
from pathlib import Path

from amplint.config.usage import UsageError
from amplint.source.git import git
from amplint.source.text import Source, SourceError, source_from_bytes


class Changes:
    """The changes since a revision and the working tree parted. Raises UsageError where there is no such revision."""

    def __init__(self, revision: str, folder: Path) -> None:
        self._folder = folder
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if found is None:
            raise UsageError(f"--diff-base {revision!r} is no revision of a git repository here")
        base = _git(folder, "merge-base", found.decode().strip(), "HEAD") or found
        self._base = base.decode().strip()

    def lines(self, source: Source) -> frozenset[int]:
        """The lines of the program that the file did not have; all of them in a new file."""
        place = self._folder / source.path
        old = _git(place.parent, "show", f"{self._base}:./{place.name}")
        if old is None:
            return frozenset(range(1, len(source.lines) + 1))
        try:
            before = source_from_bytes(old, source.path).lines
        except SourceError:
            before = []
        matcher = difflib.SequenceMatcher(None, before, source.lines, autojunk=False)
        new: set[int] = set()
        for tag, _, _, start, end in matcher.get_opcodes():
            if tag != "equal":
                new.update(range(start + 1, end + 1))
        return frozenset(new)


def _git(folder: Path, *arguments: str) -> bytes | None:
    done = git(folder, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else None
