"""A whole run: finds the files, reads them, has those that may concern AMP checked, and puts the results together.

Several processes are used only where they pay, and change nothing in what is found. Prints nothing.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.config.load import Resolver
from amplint.engine.processes import Processes
from amplint.engine.setup import Setup
from amplint.model.edit import Edit
from amplint.model.finding import Finding, Problem
from amplint.report.report import AppliedFix, Report
from amplint.source.discover import FoundFile, discover
from amplint.source.prefilter import may_concern
from amplint.source.text import Source, SourceError, read_bytes

if TYPE_CHECKING:
    from amplint.engine.session import Project
    from amplint.engine.silence import Silenced


@dataclass(frozen=True)
class Wanted:
    """What a run is to do beside checking: stdin is the text of the one file named `-`."""

    stdin: bytes | None = None
    fixes: bool = False
    allows_unsafe: bool = False
    migrations_only: bool = False
    jobs: int | None = None


@dataclass(frozen=True)
class Reading:
    """A file of the run whose bytes may concern AMP."""

    file: FoundFile
    raw: bytes


@dataclass
class Outcome:
    """What checking one file gave, in a form that travels between processes."""

    path: Path
    shown: str
    source: Source | None = None
    fixed: Source | None = None
    findings: tuple[Finding, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    silenced: "Silenced | None" = None
    texts: dict[str, Source] = field(default_factory=dict)
    edits: dict[Finding, tuple[Edit, ...]] = field(default_factory=dict)
    applied: list[AppliedFix] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)
    assumes_target: bool = False


@dataclass
class Run:
    """The report of a run, and the files whose text its fixes changed: (place, old source, new source)."""

    report: Report
    changed: list[tuple[Path, Source, Source]] = field(default_factory=list)


def run(paths: Sequence[str], resolver: Resolver, cwd: Path, wanted: Wanted) -> Run:
    """Check what the paths name; cwd is absolute. Raises UsageError where settings are wrong."""
    setup = Setup(resolver, cwd)
    setup.check_selectors()
    if wanted.stdin is not None:
        files = [FoundFile(Path(os.path.normpath(cwd / paths[0])), paths[0])]
        problems: list[Problem] = []
    else:
        found = discover(paths, cwd, setup.limits())
        files, problems = found.files, found.problems
    readings, unread = _read(files, wanted.stdin, {os.path.normpath(path) for path in paths})
    report = Report(
        problems=[*problems, *unread], checked=len(files), files=[file.display for file in files], folder=cwd
    )
    if not readings:
        return Run(report)
    from amplint.engine.session import Project

    walked = [Path(os.path.normpath(cwd / path)) for path in paths]
    project = Project(
        {file.path: file.display for file in files},
        tuple(path for path in walked if path.is_dir()),
        tuple(reading.file.path for reading in readings),
    )
    with Processes(wanted.jobs, len(readings)) as processes:
        outcomes = processes.each("work", setup, project, _chunks(readings, processes.count), wanted)
        if wanted.fixes:
            outcomes = _fixed(setup, project, readings, outcomes, wanted, processes)
    return _merged(report, setup, outcomes)


def _fixed(
    setup: Setup,
    project: "Project",
    readings: list[Reading],
    outcomes: list[Outcome],
    wanted: Wanted,
    processes: "Processes",
) -> list[Outcome]:
    """The outcomes after fixing the groups of files in which there is something to fix."""
    from amplint.engine.groups import groups

    fixable = {finding.path for outcome in outcomes for finding in outcome.edits}
    chosen = [
        group for group in groups(setup, project, readings, outcomes) if fixable & {r.file.display for r in group}
    ]
    again = {outcome.path: outcome for outcome in processes.each("fix", setup, project, chosen, wanted)}
    return [again.get(outcome.path, outcome) for outcome in outcomes]


def _read(files: Sequence[FoundFile], stdin: bytes | None, named: set[str]) -> tuple[list[Reading], list[Problem]]:
    readings: list[Reading] = []
    problems: list[Problem] = []
    for file in files:
        try:
            raw = read_bytes(file.path) if stdin is None else stdin
        except SourceError as error:
            if file.path.exists() or file.display in named:
                problems.append(Problem(file.display, str(error)))
            continue
        if may_concern(raw):
            readings.append(Reading(file, raw))
    return readings, problems


def _chunks(readings: list[Reading], count: int) -> list[list[Reading]]:
    """Neighbouring files together, since they share context; chunks of about the same number of bytes."""
    limit = sum(len(reading.raw) for reading in readings) / count
    chunks: list[list[Reading]] = [[]]
    size = 0
    for reading in readings:
        if size >= limit:
            chunks.append([])
            size = 0
        chunks[-1].append(reading)
        size += len(reading.raw)
    return chunks


def _merged(report: Report, setup: Setup, outcomes: list[Outcome]) -> Run:
    from amplint.engine.silence import comment_findings

    changed: list[tuple[Path, Source, Source]] = []
    used = {pair for outcome in outcomes if outcome.silenced for pair in outcome.silenced.used}
    findings: dict[Finding, None] = {}
    texts: dict[str, Source] = {}
    edits: dict[Finding, tuple[Edit, ...]] = {}
    for outcome in outcomes:
        report.problems += outcome.problems
        findings.update(dict.fromkeys(outcome.findings))
        if outcome.silenced and outcome.silenced.present:
            own = comment_findings(outcome.shown, outcome.silenced.present, used, setup.codes(outcome.path))
            findings.update(dict.fromkeys(own))
        texts |= outcome.texts
        edits |= outcome.edits
        report.applied += outcome.applied
        report.refused += outcome.refused
        report.assumes_target |= outcome.assumes_target
        if outcome.source and outcome.fixed:
            changed.append((outcome.path, outcome.source, outcome.fixed))
    order = {outcome.shown: number for number, outcome in enumerate(outcomes)}
    report.findings = sorted(findings, key=lambda f: (order.get(f.path, len(order)), f.path, f.span, f.code))
    report.texts, report.edits = texts, edits
    return Run(report, changed)
