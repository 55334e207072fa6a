"""Which files have to be fixed together, because what one says may change what is found in another."""

from collections.abc import Sequence
from pathlib import Path

from amplint.engine.outcome import Candidate, Outcome, Reading
from amplint.engine.session import Session


def groups(session: Session, readings: Sequence[Reading], outcomes: Sequence[Outcome]) -> list[list[Candidate]]:
    """The files in groups: two are in one where one imports the other, or was reported in while it was checked.

    The session is done with afterwards.
    """
    by_path = {reading.file.path: reading for reading in readings}
    by_shown = {reading.file.display: reading.file.path for reading in readings}
    leader = {path: path for path in by_path}

    def find(path: Path) -> Path:
        while leader[path] != path:
            leader[path] = leader[leader[path]]
            path = leader[path]
        return path

    def join(one: Path, other: Path) -> None:
        first, second = sorted((find(one), find(other)))
        leader[second] = first

    for path in by_path:
        for importer in session.linker.importer_paths(path):
            if importer in by_path:
                join(path, importer)
    session.close()
    for outcome in outcomes:
        for finding in outcome.findings:
            if finding.path in by_shown:
                join(outcome.path, by_shown[finding.path])
    found: dict[Path, list[Candidate]] = {}
    for reading, outcome in zip(readings, outcomes, strict=True):
        found.setdefault(find(reading.file.path), []).append(Candidate(reading, outcome))
    return list(found.values())
