"""Checks and fixes fixtures the way a run does, in a folder of their own."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amplint.config.load import Resolver
from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.engine.fix import FixResult
from amplint.engine.fix_run import checked_files, fix_run
from amplint.engine.outcome import Wanted
from amplint.engine.session import Project, Session
from amplint.engine.setup import Setup
from amplint.engine.tree import run
from amplint.model.finding import Finding
from amplint.report.report import Report
from amplint.source.prefilter import may_concern
from amplint.source.text import Source, source_from_bytes
from tests.fixture_cases import Case

ALL_FIXES = FixPolicy(is_unsafe_allowed=True)
Files = Mapping[str, bytes]
# Thousands of small folders are made and taken away, on a disk for longer than what is in them is checked.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True)
class Outcome:
    """What a fixture gave: as it is, and after all fixes that may be applied."""

    before: Mapping[str, CheckedFile]
    result: FixResult
    after: dict[str, bytes]

    @property
    def findings(self) -> list[Finding]:
        return findings_of(self.before)


def findings_of(files: Mapping[str, CheckedFile]) -> list[Finding]:
    return [finding for file in files.values() for finding in file.findings]


@cache
def outcome(case: Case) -> Outcome:
    """The outcome of a fixture as it is on disk, worked out once."""
    return fix(case.files, case.options)


@cache
def second_outcome(case: Case) -> Outcome:
    """The outcome of what all fixes left of a fixture, worked out once."""
    return fix(outcome(case).after, case.options)


def check(files: Files, options: Mapping[str, object]) -> Mapping[str, CheckedFile]:
    """The files as a run checks them."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        return checked_files(*_session(Path(folder).resolve(), files, options))


def fix(files: Files, options: Mapping[str, object], policy: FixPolicy = ALL_FIXES) -> Outcome:
    """The files as a run leaves them."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        session, sources = _session(Path(folder).resolve(), files, options)
        before = checked_files(session, sources)
        result = fix_run(session, sources, policy)
        after = dict(files) | {path: file.source.raw for path, file in result.files.items()}
        return Outcome(before, result, after)


def report(files: Files, options: Mapping[str, object]) -> Report:
    """What the whole run reports."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        root = Path(folder).resolve()
        _write(root, files)
        return run(["."], Resolver(options, root), root, Wanted(jobs=1)).report


def fixed_by_run(files: Files, options: Mapping[str, object]) -> dict[str, bytes]:
    """The files as the whole run would write them."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        root = Path(folder).resolve()
        _write(root, files)
        wanted = Wanted(fixes=True, allows_unsafe=True, jobs=1)
        changed = run(["."], Resolver(options, root), root, wanted).changed
        return dict(files) | {path.relative_to(root).as_posix(): new.raw for path, _, new in changed}


def _write(root: Path, files: Files) -> None:
    for name, raw in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def _session(root: Path, files: Files, options: Mapping[str, object]) -> tuple[Session, dict[Path, Source]]:
    _write(root, files)
    setup = Setup(Resolver(options, root), root)
    setup.check_selectors()
    named = {str(root / name): name for name in files}
    concerned = tuple(root / name for name, raw in files.items() if may_concern(raw))
    session = Session(setup, Project(named, (root,), concerned))
    sources = {path: source_from_bytes(path.read_bytes(), named[str(path)]) for path in concerned}
    return session, sources
