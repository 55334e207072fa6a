"""The part of a run that one process does: a list of files, one after the other. Starts nothing and writes nothing."""

from collections.abc import Sequence

from amplint.engine.session import Checked, Project, Session
from amplint.engine.setup import Setup
from amplint.engine.tree import Outcome, Reading, Wanted
from amplint.model.finding import Problem
from amplint.source.text import Source, SourceError, source_from_bytes


def work(setup: Setup, project: Project, readings: Sequence[Reading], wanted: Wanted) -> list[Outcome]:
    """An outcome for each file, in their order."""
    session = Session(setup, project)
    return [_outcome(session, setup, reading, wanted) for reading in readings]


def _outcome(session: Session, setup: Setup, reading: Reading, wanted: Wanted) -> Outcome:
    """What one file gives; whatever goes wrong with it becomes a problem, and the other files go on."""
    file = reading.file
    outcome = Outcome(file.path, file.display)
    try:
        source = source_from_bytes(reading.raw, file.display)
        checked = session.check(file.path, source)
        _fill(outcome, session, source, checked)
    except SourceError as error:
        outcome.problems.append(Problem(file.display, str(error)))
    except Exception as error:
        message = f"internal fault: {type(error).__name__}: {error}; please report it with the file"
        outcome.problems.append(Problem(file.display, message))
    return outcome


def _fill(outcome: Outcome, session: Session, source: Source, checked: Checked) -> None:
    outcome.findings = checked.findings
    outcome.problems += checked.problems
    outcome.silenced = checked.silenced
    outcome.texts = {source.path: source}
    for finding in checked.findings:
        for path in (finding.path, *(note.path for note in finding.notes if note.path)):
            if path in session.linker.sources:
                outcome.texts[path] = session.linker.sources[path]
    if checked.facts is not None:
        outcome.assumes_target = checked.facts.settings.target.is_assumed
