"""What a run asks of each file and what comes back, in forms that travel between processes; does nothing itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.model.data import Value
from amplint.source.discover import FoundFile
from amplint.source.text import Source, read_bytes

if TYPE_CHECKING:
    from amplint.model.edit import Edit
    from amplint.model.finding import Finding, Problem
    from amplint.report.report import AppliedFix
    from amplint.source.suppress import Silenced

if TYPE_CHECKING:
    from amplint.engine.narrow import Narrowing
    from amplint.model.tree import Module


class Wanted(Value):
    """What a run is to do beside checking.

    stdin is the text of the one file named `-`; unsaved are texts of other files that count instead of those on disk;
    narrowing says what is left out of the report, and not fixed. lowered keeps parsed programs from run to run of one
    process; again is what has LibCST read a text, where that is not this process.
    """

    stdin: bytes | None = None
    fixes: bool = False
    allows_unsafe: bool = False
    migrations_only: bool = False
    jobs: int | None = None
    caches: bool = False
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)
    narrowing: "Narrowing | None" = None
    lowered: "dict[str, Module] | None" = None
    again: "Callable[[str], Module | None] | None" = None


class Reading(Value):
    """A file of the run whose bytes may concern AMP; size counts them."""

    file: FoundFile
    size: int
    known: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The bytes. Raises SourceError where they cannot be read, if an earlier run was trusted so far."""
        return read_bytes(self.file.path) if self.known is None else self.known


class Outcome(Struct):
    """What checking one file gave, in a form that travels between processes.

    uses are the other files that were looked at for it; imports is a digest of what its text says it imports. The
    first outcome of a process says for all of them what took how long, and which folders were looked through.
    """

    path: Path
    shown: str
    source: Source | None = None
    fixed: Source | None = None
    findings: "tuple[Finding, ...]" = ()
    problems: "list[Problem]" = field(default_factory=list)
    silenced: "Silenced | None" = None
    texts: dict[str, Source] = field(default_factory=dict)
    edits: "dict[Finding, tuple[Edit, ...]]" = field(default_factory=dict)
    applied: "list[AppliedFix]" = field(default_factory=list)
    refused: "list[tuple[Finding, str]]" = field(default_factory=list)
    assumes_target: bool = False
    uses: frozenset[Path] = frozenset()
    folders: frozenset[Path] = frozenset()
    imports: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


class Candidate(Value):
    """A file whose text fixes may change, and what checking it gave."""

    reading: Reading
    outcome: Outcome
