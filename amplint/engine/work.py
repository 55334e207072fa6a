"""The part of a run that one process does: a list of files, one after the other. Starts nothing and writes nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from amplint.config.fault import is_traced, told
from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.engine.fix_run import fix_run
from amplint.engine.imports import imports_digest
from amplint.engine.outcome import Candidate, Outcome, Reading, Wanted
from amplint.engine.processes import give_back
from amplint.engine.session import Checked, Project, Session
from amplint.engine.setup import Setup
from amplint.engine.shelf import Shelf
from amplint.model.edit import Applicability
from amplint.model.finding import Finding, Problem
from amplint.report.report import AppliedFix
from amplint.rewrite.render import Refusal
from amplint.source.suppress import Silenced
from amplint.source.text import Source, SourceError, source_from_bytes

# Characters of parsed programs after which it pays to forget them: at the border of a project, and anywhere. A program
# takes some forty times its length, and what is forgotten too early has to be parsed again.
_ENOUGH = 300_000
_MOST = 1_100_000


def work(setup: Setup, project: Project, wanted: Wanted, readings: Sequence[Reading]) -> list[Outcome]:
    """An outcome for each file, in their order."""
    desk = _Desk(setup, project, wanted)
    outcomes = [_outcome(desk.session_for(reading.file.path), reading) for reading in readings]
    if outcomes:
        outcomes[0].seconds, outcomes[0].folders = desk.session.seconds, desk.session.linker.folders
    desk.session.close()
    return outcomes


class _Desk:
    """The session of a process, exchanged where it holds more than the files to come are likely to need."""

    def __init__(self, setup: Setup, project: Project, wanted: Wanted, known: Shelf | None = None) -> None:
        self._setup, self._project, self._wanted = setup, project, wanted
        self._shelf = Shelf(wanted.lowered, wanted.again)
        if known is not None:
            self._shelf.know(known)
        self._root: Path | None = None
        self.session = self._open()

    def session_for(self, path: Path, characters: int = 0) -> Session:
        """The session in which a file is to be looked at, with others of so many characters in all."""
        root = self.session.linker.root(path)
        held = self._shelf.size
        is_outweighed = characters > held and characters + held > 2 * _ENOUGH
        if held > (_ENOUGH if root != self._root else _MOST) or is_outweighed:
            # Files of other projects need nothing of these, and a run over large trees would hold them all.
            self._shelf = self._shelf.emptied()
            self.exchange()
        self._root = root
        return self.session

    def exchange(self) -> None:
        """Begin anew, with what was parsed and counted so far."""
        seconds = self.session.seconds
        self.session.close()
        give_back()
        self.session = self._open()
        self.session.seconds.update(seconds)

    def _open(self) -> Session:
        return Session(self._setup, self._project, self._shelf, unsaved=self._wanted.unsaved)


def _outcome(session: Session, reading: Reading) -> Outcome:
    """What one file gives."""
    outcome = Outcome(reading.file.path, reading.file.display)

    def fill() -> None:
        source = source_from_bytes(reading.raw, outcome.shown)
        _fill(outcome, session, source, session.check(outcome.path, source))

    outcome.problems += _faults(fill, outcome.shown)
    return outcome


def _faults(action: Callable[[], None], path: str) -> list[Problem]:
    """Do something with a file; whatever goes wrong becomes a problem, and the other files go on."""
    try:
        action()
    except SourceError as error:
        return [Problem(path, str(error))]
    except RecursionError:
        return [Problem(path, "nested too deeply to analyse")]
    except Exception as error:
        if is_traced():
            raise
        return [Problem(path, f"{told(error)}; please report it with the file")]
    return []


def _fill(outcome: Outcome, session: Session, source: Source, checked: Checked) -> None:
    outcome.problems += checked.problems
    outcome.silenced = checked.silenced
    if checked.findings or checked.silenced.present or outcome.fixed:
        outcome.texts = {source.path: source}
    outcome.uses = frozenset(session.linker.uses(outcome.path))
    outcome.imports = imports_digest(source.program)
    if checked.facts is not None:
        outcome.assumes_target = checked.facts.settings.target.is_assumed
    for finding in checked.findings:
        for path in (finding.path, *(note.path for note in finding.notes if note.path)):
            if path in session.linker.sources:
                outcome.texts[path] = session.linker.sources[path]
    outcome.findings = tuple(_with_edits(outcome, session, checked))


def _with_edits(outcome: Outcome, session: Session, checked: Checked) -> Iterator[Finding]:
    """The findings, each fix rendered; one that cannot be written here is for display."""
    files: dict[str, CheckedFile] = {}
    for finding in checked.findings:
        if finding.fix is None or not finding.fix.repairs:
            yield finding
            continue
        if finding.path not in files:
            facts = session.facts_at(finding.path)
            files[finding.path] = CheckedFile(session.linker.sources[finding.path], facts, checked.findings)
        edits = files[finding.path].rendered(finding)
        if isinstance(edits, Refusal):
            finding = replace(finding, fix=replace(finding.fix, applicability=Applicability.DISPLAY))
        else:
            outcome.edits[finding] = edits
        yield finding


def fix(
    setup: Setup, project: Project, wanted: Wanted, known: Shelf, groups: Sequence[Sequence[Candidate]]
) -> list[Outcome]:
    """An outcome for each file of some groups that fixing what can be fixed changed, or might have.

    known says where files are and who imports whom.
    """
    give_back()  # what earlier groups left
    desk = _Desk(setup, project, wanted, known)
    outcomes = [outcome for group in groups for outcome in _group(desk, group, wanted)]
    desk.session.close()
    return outcomes


def _group(desk: _Desk, group: Sequence[Candidate], wanted: Wanted) -> list[Outcome]:
    """The outcomes of a group that is fixed together. Where that fails, nothing in it is changed."""
    outcomes: list[Outcome] = []
    session = desk.session_for(group[0].reading.file.path, sum(candidate.reading.size for candidate in group))

    def fill() -> None:
        # Who imports whom is asked while everything is as it is on disk, for other groups will go by the answer.
        session.linker.importer_paths(group[0].reading.file.path)
        outcomes.extend(_fixed(session, group, wanted))

    problems = _faults(fill, group[0].outcome.shown)
    if problems:
        desk.exchange()
        outcomes = [candidate.outcome for candidate in group]
        outcomes[0].problems += problems
    return outcomes


def _fixed(session: Session, group: Sequence[Candidate], wanted: Wanted) -> Iterator[Outcome]:
    sources: dict[Path, Source] = {}
    known: dict[Path, Outcome] = {}
    for candidate in group:
        outcome = candidate.outcome
        with suppress(SourceError):  # it was said when the file was checked
            sources[outcome.path] = source_from_bytes(candidate.reading.raw, outcome.shown)
            known[outcome.path] = outcome
    session.show(sources)
    for path, source in sources.items():
        _believe(session, source, known[path])
    policy = FixPolicy(wanted.allows_unsafe, wanted.migrations_only)
    result = fix_run(session, sources, policy, wanted.narrowing)
    fixed = {path: result.files[source.path].source for path, source in sources.items() if source.path in result.files}
    session.show(fixed)
    changed = {path for path, source in fixed.items() if source.raw != sources[path].raw}
    for path, before in sources.items():
        is_waiting = any(waiting.finding.path == before.path for waiting in result.waiting)
        is_as_before = path not in changed and changed.isdisjoint(known[path].uses)
        if is_as_before and not is_waiting:
            continue
        outcome = known[path]
        if not is_as_before:
            source = fixed.get(path, before)
            outcome = Outcome(path, source.path, before, source if source.raw != before.raw else None)
            _fill(outcome, session, source, session.check(path, source))
        outcome.applied = [_applied(finding) for finding in result.applied if finding.path == before.path]
        outcome.refused = [
            (waiting.finding, waiting.reason)
            for waiting in result.waiting
            if waiting.finding.path == before.path
            and result.files[before.path].objection(waiting.finding, policy) is None
        ]
        yield outcome
    session.show(sources)  # other groups see this one as it is on disk
    session.linker.forget_dropped()


def _believe(session: Session, source: Source, outcome: Outcome) -> None:
    """Have a session start from what was found before, where nothing of a finding got lost since."""
    if all(finding.fix is None or not finding.fix.repairs or finding in outcome.edits for finding in outcome.findings):
        checked = Checked(outcome.findings, tuple(outcome.problems), outcome.silenced or Silenced())
        session.believe(outcome.path, source, checked, outcome.uses)


def _applied(finding: Finding) -> AppliedFix:
    assert finding.fix is not None
    return AppliedFix(finding.path, finding.span.line, finding.code, finding.fix.title, finding.fix.kind)
