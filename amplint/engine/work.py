"""The part of a run that one process does: a list of files, one after the other. Starts nothing and writes nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from amplint.config.fault import is_traced, told
from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.engine.fix_run import fix_run
from amplint.engine.imports import imports_digest
from amplint.engine.outcome import Outcome, Reading, Wanted
from amplint.engine.session import Checked, Project, Session
from amplint.engine.setup import Setup
from amplint.engine.shelf import Shelf
from amplint.model.edit import Applicability
from amplint.model.finding import Finding, Problem
from amplint.report.report import AppliedFix
from amplint.rewrite.render import Refusal
from amplint.source.text import Source, SourceError, source_from_bytes

# Characters of parsed programs after which it pays to forget them: at the border of a project, and anywhere. A program
# takes some forty times its length, and what is forgotten too early has to be parsed again.
_ENOUGH = 300_000
_MOST = 1_100_000


def work(setup: Setup, project: Project, readings: Sequence[Reading], wanted: Wanted) -> list[Outcome]:
    """An outcome for each file, in their order."""
    outcomes: list[Outcome] = []
    shelf = _shelf(wanted)
    session = Session(setup, project, shelf, unsaved=wanted.unsaved)
    root = None
    for reading in readings:
        around = session.linker.root(reading.file.path)
        if shelf.size > (_ENOUGH if around != root else _MOST):
            # Files of other projects need nothing of these, and a run over large trees would hold them all.
            shelf, seconds = shelf.emptied(), session.seconds
            session.close()
            session = Session(setup, project, shelf, unsaved=wanted.unsaved)
            session.seconds.update(seconds)
        root = around
        outcomes.append(_outcome(session, reading))
    if outcomes:
        outcomes[0].seconds, outcomes[0].folders = session.seconds, session.linker.folders
    session.close()
    return outcomes


def _shelf(wanted: Wanted) -> Shelf:
    return Shelf(wanted.lowered) if wanted.again is None else Shelf(wanted.lowered, wanted.again)


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


def fix(setup: Setup, project: Project, groups: Sequence[Sequence[Reading]], wanted: Wanted) -> list[Outcome]:
    """An outcome for each file of some groups that fixing what can be fixed changed, or might have."""
    outcomes: list[Outcome] = []
    shelf = _shelf(wanted)
    for group in groups:
        outcomes += _group(setup, project, group, wanted, shelf)
        if shelf.size > _ENOUGH:
            shelf = shelf.emptied()
    return outcomes


def _group(setup: Setup, project: Project, readings: Sequence[Reading], wanted: Wanted, shelf: Shelf) -> list[Outcome]:
    """The outcomes of a group that is fixed together. Where that fails, nothing in it is changed."""
    outcomes: list[Outcome] = []

    def fill() -> None:
        session = Session(setup, project, shelf, unsaved=wanted.unsaved)
        # Who imports whom is asked while everything is as it is on disk, for other groups will go by the answer.
        session.linker.importer_paths(readings[0].file.path)
        outcomes.extend(_fixed(session, readings, wanted))
        session.close()

    problems = _faults(fill, readings[0].file.display)
    if problems:
        outcomes = work(setup, project, readings, wanted)
        outcomes[0].problems += problems
    return outcomes


def _fixed(session: Session, readings: Sequence[Reading], wanted: Wanted) -> Iterator[Outcome]:
    sources: dict[Path, Source] = {}
    for reading in readings:
        try:
            sources[reading.file.path] = source_from_bytes(reading.raw, reading.file.display)
        except SourceError as error:
            problem = Problem(reading.file.display, str(error))
            yield Outcome(reading.file.path, reading.file.display, problems=[problem])
    policy = FixPolicy(wanted.allows_unsafe, wanted.migrations_only)
    result = fix_run(session, sources, policy, wanted.narrowing)
    fixed = {path: result.files[source.path].source for path, source in sources.items() if source.path in result.files}
    after = session.with_overlay(fixed)
    changed = {path for path, source in fixed.items() if source.raw != sources[path].raw}
    for path, before in sources.items():
        is_waiting = any(waiting.finding.path == before.path for waiting in result.waiting)
        if not is_waiting and path not in changed and changed.isdisjoint(session.linker.uses(path)):
            continue  # what was found in it before holds
        source = fixed.get(path, before)
        outcome = Outcome(path, source.path, before, source if source.raw != before.raw else None)
        _fill(outcome, after, source, after.check(path, source))
        outcome.applied = [_applied(finding) for finding in result.applied if finding.path == source.path]
        outcome.refused = [
            (waiting.finding, waiting.reason)
            for waiting in result.waiting
            if waiting.finding.path == source.path
            and result.files[source.path].objection(waiting.finding, policy) is None
        ]
        yield outcome


def _applied(finding: Finding) -> AppliedFix:
    assert finding.fix is not None
    return AppliedFix(finding.path, finding.span.line, finding.code, finding.fix.title, finding.fix.kind)
