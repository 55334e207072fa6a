"""What earlier runs found, kept beside the project, and whether it still holds. Checks nothing itself.

A file's outcome holds while its own bytes, those of every file that was looked at for it, the names in every folder
that was looked through, the imports of the files of the run, the settings and the version are what they were.
Bytes are compared by size and time first; a time so near to the run's that a second write could share it proves
nothing.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from amplint import __version__
from amplint.config.disk import read_plain
from amplint.engine.digest import digest
from amplint.source.discover import CACHE_FOLDER
from amplint.source.prefilter import may_concern

_KEPT_RUNS = 16
# Coarser than the clock of any file system in use.
_RACY_SECONDS = 2.0


class Stamp(NamedTuple):
    """A file as it was read: size in bytes, time of change in ns, digest, whether it may concern AMP."""

    size: int
    time: int
    digest: str
    concerns: bool


class Entry(NamedTuple):
    """The outcome of a file as JSON, the files looked at for it, and a digest of what it imports."""

    outcome: Any
    uses: tuple[str, ...]
    imports: str


class Names(NamedTuple):
    """The names in a folder: when one of them changed last, in ns, and a digest of those that matter to imports."""

    time: int
    digest: str


class Cache(Struct):
    """One run's memory: what the last run with the same arguments left, and what this one will leave."""

    path: Path
    began: float = field(default_factory=time.time)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    _folders: dict[str, Names] = field(default_factory=dict)
    _known: dict[str, Stamp] = field(default_factory=dict)
    _fingerprint: str = ""
    _is_new: bool = True

    def load(self) -> None:
        """Read what the last run left; nothing where there is none that can be read."""
        try:
            stored = json.loads(read_plain(self.path))
            self._known = {path: Stamp(*stamp) for path, stamp in stored["stamps"].items()}
            self._folders = {path: Names(*names) for path, names in stored["folders"].items()}
            paths = list(self._known)
            self.entries = {
                path: Entry(outcome, tuple([paths[use] for use in uses]), imports)
                for path, (outcome, uses, imports) in stored["entries"].items()
            }
            self._fingerprint = str(stored["fingerprint"])
            self._is_new = False
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            self._known, self.entries, self._folders = {}, {}, {}

    def accept(self, decisive: Iterable[str]) -> None:
        """Forget all outcomes where anything decisive for all of them changed: this, the version, names in folders."""
        fingerprint = digest("\0".join((__version__, sys.version, _own_digest(), *decisive)))
        if fingerprint != self._fingerprint or any(not self._has_same_names(folder) for folder in self._folders):
            self._is_new = True
            self.entries, self._folders = {}, {}
        self._fingerprint = fingerprint

    def _has_same_names(self, folder: str) -> bool:
        known = self._folders[folder]
        now = _changed(folder)
        if now == known.time:
            return True
        self._is_new = True
        return _names(folder) == known.digest

    def known(self, path: str) -> Stamp | None:
        """The stamp of a file that is certainly as it was; None where it has to be read."""
        stamp = self._known.get(path)
        if stamp is None:
            return None
        try:
            status = os.stat(path)
        except OSError:
            return None
        if status.st_mtime_ns != stamp.time or status.st_size != stamp.size:
            return None
        self.stamps[path] = stamp
        return stamp

    def read(self, path: str, data: bytes, concerns: bool) -> None:
        """Note a file that was read. data are its bytes."""
        with suppress(OSError):
            status = os.stat(path)
            self.stamps[path] = Stamp(status.st_size, status.st_mtime_ns, digest(data), concerns)

    def is_same(self, path: str) -> bool:
        """Whether a file has the bytes that it had in the last run."""
        now, last = self._stamp(path), self._known.get(path)
        return now is not None and last is not None and (now is last or now.digest == last.digest)

    def _stamp(self, path: str) -> Stamp | None:
        """The file as it is now; None where it cannot be read."""
        now = self.stamps.get(path) or self.known(path)
        if now is None:
            with suppress(OSError):
                data = read_plain(path)
                self.read(path, data, may_concern(data))
        return self.stamps.get(path)

    def valid(self, imports: Mapping[str, str]) -> dict[str, Any]:
        """The outcomes that still hold, by path. imports are the digests of imports of the files that changed."""
        before = self.entries
        for path, now in imports.items():
            entry = self.entries.get(path)
            if entry is None or entry.imports != now:
                self.entries = {}
        used = {path for entry in self.entries.values() for path in entry.uses}
        changed = {path for path in used.union(self.entries) if not self.is_same(path)}
        self.entries = {
            path: entry
            for path, entry in self.entries.items()
            if path not in changed and changed.isdisjoint(entry.uses)
        }
        self._is_new |= len(self.entries) != len(before)
        return {path: entry.outcome for path, entry in self.entries.items()}

    def add(self, path: str, outcome: Any, uses: Iterable[str], imports: str) -> None:
        """Keep the outcome of a file."""
        self._is_new = True
        self.entries[path] = Entry(outcome, tuple(uses), imports)
        for used in uses:
            self._stamp(used)

    def save(self, folders: Iterable[Path]) -> None:
        """Leave this run's memory for the next one, whole or not at all; a folder that refuses it is no error."""
        with suppress(OSError):
            if self._is_new or self.stamps != self._known:
                _write(self.path, self._stored(map(str, folders)))
            else:
                os.utime(self.path)

    def _stored(self, folders: Iterable[str]) -> dict[str, Any]:
        limit = int((self.began - _RACY_SECONDS) * 1e9)
        names = {folder: Names(_changed(folder), _names(folder)) for folder in {*self._folders, *folders}}
        numbers = {path: number for number, path in enumerate(self.stamps)}
        return {
            "fingerprint": self._fingerprint,
            "folders": {folder: now if now.time < limit else now._replace(time=-1) for folder, now in names.items()},
            "stamps": {path: now if now.time < limit else now._replace(time=-1) for path, now in self.stamps.items()},
            "entries": {
                path: [outcome, [numbers[use] for use in uses], imports]
                for path, (outcome, uses, imports) in self.entries.items()
                # What cannot be read now cannot be compared later.
                if all(use in numbers for use in uses)
            },
        }


def cache_for(root: Path, arguments: Iterable[str]) -> Cache:
    """The memory of runs in a folder with the same arguments."""
    cache = Cache(root / CACHE_FOLDER / f"{digest(chr(0).join(arguments))}.json")
    cache.load()
    return cache


def _own_digest() -> str:
    """Sizes and times of amplint's own files: an edited installation must not trust what it found before."""
    found: list[tuple[str, int, int]] = []
    waiting = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
                elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return digest(repr(sorted(found)))


def _changed(folder: str) -> int:
    """When a name in a folder changed last, in ns; -2, which is kept of no folder that exists, where it is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return -2


def _names(folder: str) -> str:
    """A digest of the names in a folder that can matter to imports."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith(".") and name != "__pycache__")
    except OSError:
        return ""
    return digest("\0".join(names))


def _write(path: Path, stored: dict[str, Any]) -> None:
    """Put the memory in its place, whole or not at all. Raises OSError."""
    _make_folder(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(stored, separators=(",", ":")))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _forget_oldest(path.parent)


def _make_folder(folder: Path) -> None:
    if folder.is_symlink():  # whoever wrote the tree chose where it leads
        raise OSError(f"{folder} is a link")
    if folder.is_dir():
        return
    folder.mkdir()
    (folder / ".gitignore").write_text("# Made by amplint; may be deleted at any time.\n*\n", encoding="utf-8")
    (folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n", encoding="utf-8")


def _forget_oldest(folder: Path) -> None:
    stored = sorted(folder.glob(f"{'[0-9a-f]' * 32}.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in stored[_KEPT_RUNS:]:
        path.unlink(missing_ok=True)
