"""Fixes the files of a run: groups findings by the file that they stand in, and has changed texts checked again.

Writes nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.engine.fix import FixResult, fix_files
from amplint.engine.session import Session
from amplint.facts.gather import Facts
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.source.text import Source

if TYPE_CHECKING:
    from amplint.engine.narrow import Narrowing


def fix_run(
    session: Session, sources: Mapping[Path, Source], policy: FixPolicy, narrowing: "Narrowing | None" = None
) -> FixResult:
    """Fix what the policy lets through in the named files, and nothing that narrowing leaves out.

    sources are those files whose text may change, and those whose check may report something in them.
    """
    run = _FixRun(session, sources, narrowing)
    return fix_files(run.files(sources), policy, run.recheck)


def checked_files(session: Session, sources: Mapping[Path, Source]) -> dict[str, CheckedFile]:
    """The named files with the findings that stand in them."""
    return _FixRun(session, sources).files(sources)


class _FixRun:
    """The named files by the path that findings give, who reported into whom, and which rules failed on them."""

    def __init__(self, session: Session, sources: Mapping[Path, Source], narrowing: "Narrowing | None" = None) -> None:
        self._session = session
        self._narrowing = narrowing
        self._sources = dict(sources)
        self._places = {source.path: path for path, source in sources.items()}
        session.show(sources)
        self._reporters: dict[str, set[str]] = {}
        self._failed: dict[str, frozenset[str | None]] = {}

    def recheck(self, changed: Mapping[str, Source], touched: Collection[str]) -> dict[str, CheckedFile]:
        """The touched files and all files that what they say may change the findings of, checked in their new light."""
        overlay = {self._places[shown]: source for shown, source in changed.items()}
        self._session.show(self._sources | overlay)
        again = set(touched)
        for shown in touched:
            importers = set(self._session.linker.importer_paths(self._places[shown]))
            again |= {other for other, path in self._places.items() if path in importers}
        again = self._closed(again)
        places = (self._places[shown] for shown in self._places if shown in again)
        return self.files({path: overlay.get(path, self._sources[path]) for path in places})

    def files(self, sources: Mapping[Path, Source]) -> dict[str, CheckedFile]:
        """The files with the findings that stand in them, whichever of these files reported them.

        Those that do not parse, and those in which a rule fails that did not fail before, are left out.
        """
        inside: dict[str, dict[Finding, None]] = {source.path: {} for source in sources.values()}
        facts: dict[str, Facts] = {}
        for path, source in sources.items():
            checked = self._session.check(path, source)
            failed = frozenset(problem.rule for problem in checked.problems if problem.is_fatal)
            if checked.facts is not None and failed <= self._failed.setdefault(source.path, failed):
                facts[source.path] = checked.facts
            for finding in checked.findings:
                inside.setdefault(finding.path, {})[finding] = None
                self._reporters.setdefault(finding.path, set()).add(source.path)
        return {
            source.path: self._checked(source, facts[source.path], inside[source.path])
            for source in sources.values()
            if source.path in facts
        }

    def _checked(self, source: Source, facts: Facts, findings: Iterable[Finding]) -> CheckedFile:
        ordered = tuple(sorted(findings, key=_order))
        if self._narrowing is None:
            return CheckedFile(source, facts, ordered)
        spared = frozenset(ordered).difference(self._narrowing.wanted(ordered, {source.path: source}))
        return CheckedFile(source, facts, ordered, spared)

    def _closed(self, shown: set[str]) -> set[str]:
        """These files and all that reported into the same files: the findings of a file are known by all reporters."""
        closed = set(shown)
        while True:
            affected = {path for path, reporters in self._reporters.items() if path in closed or reporters & closed}
            more = affected.union(*(self._reporters[path] for path in affected)) & self._places.keys()
            if more <= closed:
                return closed
            closed |= more


def _order(finding: Finding) -> tuple[Span, str]:
    return finding.span, finding.code
