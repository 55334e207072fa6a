"""What earlier runs found, kept beside the project, and whether it still holds. Checks nothing itself.

A file's outcome holds while its own bytes, those of every file that was looked at for it, the names in every folder
that was looked through, the imports of the files of the run, the settings and the version are what they were.
Bytes are compared by size and time first; a time so near to the run's that a second write could share it proves
nothing.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplint import __version__
from amplint.source.discover import CACHE_FOLDER
from amplint.source.prefilter import may_concern

_KEPT_RUNS = 16
# Coarser than the clock of any file system in use.
_RACY_SECONDS = 2.0


def digest(data: bytes | str) -> str:
    """A name for bytes or a text; names of files may hold what is no text."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was read: size in bytes, time of change in ns, digest, whether it may concern AMP."""

    size: int
    time: int
    digest: str
    concerns: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """The outcome of a file as JSON, the files looked at for it, and a digest of what it imports."""

    outcome: Any
    uses: tuple[str, ...]
    imports: str


@dataclass
class Cache:
    """One run's memory: what the last run with the same arguments left, and what this one will leave."""

    path: Path
    began: float = field(default_factory=time.time)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    _folders: dict[str, str] = field(default_factory=dict)
    _known: dict[str, Stamp] = field(default_factory=dict)
    _fingerprint: str = ""

    def load(self) -> None:
        """Read what the last run left; nothing where there is none that can be read."""
        try:
            stored = json.loads(self.path.read_bytes())
            self._known = {path: Stamp(*stamp) for path, stamp in stored["stamps"].items()}
            self.entries = {path: Entry(o, tuple(uses), i) for path, (o, uses, i) in stored["entries"].items()}
            self._folders, self._fingerprint = dict(stored["folders"]), str(stored["fingerprint"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._known, self.entries, self._folders = {}, {}, {}

    def accept(self, decisive: Iterable[str]) -> None:
        """Forget all outcomes where anything decisive for all of them changed: this, the version, names in folders."""
        fingerprint = digest("\0".join((__version__, sys.version, _own_digest(), *decisive)))
        is_same = fingerprint == self._fingerprint
        if not is_same or any(_names(folder) != names for folder, names in self._folders.items()):
            self.entries, self._folders = {}, {}
        self._fingerprint = fingerprint

    def known(self, path: Path) -> Stamp | None:
        """The stamp of a file that is certainly as it was; None where it has to be read."""
        stamp = self._known.get(str(path))
        if stamp is None:
            return None
        try:
            status = os.stat(path)
        except OSError:
            return None
        if (status.st_size, status.st_mtime_ns) != (stamp.size, stamp.time):
            return None
        self.stamps[str(path)] = stamp
        return stamp

    def read(self, path: Path, data: bytes, concerns: bool) -> None:
        """Note a file that was read. data are its bytes."""
        with suppress(OSError):
            status = os.stat(path)
            self.stamps[str(path)] = Stamp(status.st_size, status.st_mtime_ns, digest(data), concerns)

    def is_same(self, path: str) -> bool:
        """Whether a file has the bytes that it had in the last run."""
        now, last = self._stamp(path), self._known.get(path)
        return now is not None and last is not None and now.digest == last.digest

    def _stamp(self, path: str) -> Stamp | None:
        """The file as it is now; None where it cannot be read."""
        now = self.stamps.get(path) or self.known(Path(path))
        if now is None:
            with suppress(OSError):
                data = Path(path).read_bytes()
                self.read(Path(path), data, may_concern(data))
        return self.stamps.get(path)

    def valid(self, imports: Mapping[str, str]) -> dict[str, Any]:
        """The outcomes that still hold, by path. imports are the digests of imports of the files that changed."""
        for path, now in imports.items():
            entry = self.entries.get(path)
            if entry is None or entry.imports != now:
                self.entries = {}
        held = {
            path: entry
            for path, entry in self.entries.items()
            if all(self.is_same(used) for used in (path, *entry.uses))
        }
        self.entries = held
        return {path: entry.outcome for path, entry in held.items()}

    def add(self, path: str, outcome: Any, uses: Iterable[str], imports: str) -> None:
        """Keep the outcome of a file."""
        self.entries[path] = Entry(outcome, tuple(uses), imports)
        for used in uses:
            self._stamp(used)

    def save(self, folders: Iterable[Path]) -> None:
        """Leave this run's memory for the next one, whole or not at all; a folder that refuses it is no error."""
        names = self._folders | {str(folder): _names(str(folder)) for folder in folders}
        limit = int((self.began - _RACY_SECONDS) * 1e9)
        stored = {
            "fingerprint": self._fingerprint,
            "folders": names,
            "stamps": {
                path: [stamp.size, stamp.time if stamp.time < limit else -1, stamp.digest, stamp.concerns]
                for path, stamp in self.stamps.items()
            },
            "entries": {path: [entry.outcome, entry.uses, entry.imports] for path, entry in self.entries.items()},
        }
        with suppress(OSError):
            _make_folder(self.path.parent)
            temporary = self.path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.tmp")
            try:
                with temporary.open("x", encoding="utf-8") as stream:
                    json.dump(stored, stream, separators=(",", ":"))
                os.replace(temporary, self.path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            _forget_oldest(self.path.parent)


def cache_for(root: Path, arguments: Iterable[str]) -> Cache:
    """The memory of runs in a folder with the same arguments."""
    cache = Cache(root / CACHE_FOLDER / f"{digest(chr(0).join(arguments))}.json")
    cache.load()
    return cache


def _own_digest() -> str:
    """Sizes and times of amplint's own files: an edited installation must not trust what it found before."""
    package = Path(__file__).parent.parent
    files = sorted(package.rglob("*.py"))
    return digest(repr([(path.name, (s := path.stat()).st_size, s.st_mtime_ns) for path in files]))


def _names(folder: str) -> str:
    """A digest of the names in a folder that can matter to imports."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith(".") and name != "__pycache__")
    except OSError:
        return ""
    return digest("\0".join(names))


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir()
    (folder / ".gitignore").write_text("# Made by amplint; may be deleted at any time.\n*\n", encoding="utf-8")
    (folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n", encoding="utf-8")


def _forget_oldest(folder: Path) -> None:
    stored = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in stored[_KEPT_RUNS:]:
        path.unlink(missing_ok=True)
