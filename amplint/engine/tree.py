"""A whole run: finds the files, reads them, has those that may concern AMP checked, and puts the results together.

Several processes are used only where they pay, and change nothing in what is found. Prints nothing.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from amplint.config.load import Resolver
from amplint.engine.aside import Aside
from amplint.engine.outcome import Candidate, Outcome, Reading, Wanted
from amplint.engine.places import Folders
from amplint.engine.processes import Processes, give_back
from amplint.engine.setup import Setup
from amplint.model.finding import Finding, Problem
from amplint.report.report import Report
from amplint.source.discover import FoundFile, discover
from amplint.source.prefilter import is_likely_wrong, may_concern
from amplint.source.text import Source, SourceError, read_bytes

if TYPE_CHECKING:
    from amplint.engine.recall import Memory
    from amplint.engine.session import Project
    from amplint.model.edit import Edit

# Chunks for each process, where a tree holds many projects: the time that one takes is only known afterwards.
_CHUNKS = 6


class Run(Struct):
    """The report of a run, and the files whose text its fixes changed: (place, old source, new source).

    uses are all other files that were looked at.
    """

    report: Report
    changed: list[tuple[Path, Source, Source]] = field(default_factory=list)
    uses: frozenset[Path] = frozenset()


def run(paths: Sequence[str], resolver: Resolver, cwd: Path, wanted: Wanted) -> Run:
    """Check what the paths name; cwd is absolute. Raises UsageError where settings are wrong."""
    start = perf_counter()
    setup = Setup(resolver, cwd)
    setup.check_selectors()
    if wanted.stdin is not None:
        files = [FoundFile(os.path.normpath(cwd / paths[0]), paths[0])]
        problems: list[Problem] = []
    else:
        found = discover(paths, cwd, setup.limits())
        files, problems = found.files, found.problems
    memory = _memory(setup, paths) if wanted.caches and wanted.stdin is None else None
    found_at = perf_counter()
    readings, unread = _read(files, wanted.stdin, {os.path.normpath(path) for path in paths}, memory)
    report = Report(
        problems=[*problems, *unread], checked=len(files), files=[file.display for file in files], folder=cwd
    )
    report.seconds.update({"find files": found_at - start, "read": perf_counter() - found_at})
    known = memory.recalled(files, readings) if memory is not None else {}
    new = [reading for reading in readings if reading.file.path not in known]
    if new or (readings and wanted.fixes):
        with Processes(wanted.jobs, len(readings) if wanted.fixes else len(new)) as processes, Aside() as aside:
            if processes.count == 1 and wanted.jobs != 1 and wanted.lowered is None:
                if any(is_likely_wrong(reading.raw) for reading in new):
                    aside.start()
                wanted = replace(wanted, again=aside.lowered)
            project = _project(files, paths, readings, cwd)
            outcomes = _checked(setup, project, readings, known, wanted, memory, processes)
    else:
        outcomes = [known[reading.file.path] for reading in readings]
        if memory is not None:
            memory.remember(())
    done = _merged(report, setup, outcomes) if outcomes else Run(report)
    if wanted.narrowing is not None:
        from amplint.engine.narrow import narrow

        narrow(report, wanted.narrowing)
    return done


def _memory(setup: Setup, paths: Sequence[str]) -> "Memory | None":
    # A run without a memory need not load what keeps one.
    from amplint.engine.recall import open_memory

    return open_memory(setup, paths)


def _project(files: Sequence[FoundFile], paths: Sequence[str], readings: Sequence[Reading], cwd: Path) -> "Project":
    from amplint.engine.session import Project

    walked = [Path(os.path.normpath(cwd / path)) for path in paths]
    return Project(
        {file.place: file.display for file in files},
        tuple(path for path in walked if path.is_dir()),
        tuple(reading.file.path for reading in readings),
    )


def _checked(
    setup: Setup,
    project: "Project",
    readings: list[Reading],
    known: Mapping[Path, Outcome],
    wanted: Wanted,
    memory: "Memory | None",
    processes: Processes,
) -> list[Outcome]:
    """An outcome for each reading, in their order: those that are known, the others by checking; then fixes."""
    new = [reading for reading in readings if reading.file.path not in known]
    chunks = _chunks(project, new, processes.count, setup.cwd) if new else []
    found = processes.each("work", chunks, setup, project, wanted)
    _share(found, new)
    if memory is not None:
        memory.remember(found)
    by_path = {**known, **{outcome.path: outcome for outcome in found}}
    outcomes = [by_path[reading.file.path] for reading in readings]
    return _fixed(setup, project, readings, outcomes, wanted, processes) if wanted.fixes else outcomes


def _share(outcomes: list[Outcome], readings: list[Reading]) -> None:
    """Let the sources that other processes sent have the bytes that were read here, not a copy of each."""
    read = {reading.file.display: reading.known for reading in readings}
    for outcome in outcomes:
        for shown, source in outcome.texts.items():
            raw = read.get(shown)
            if raw == source.raw and raw is not source.raw:
                outcome.texts[shown] = replace(source, raw=raw)


def _fixed(
    setup: Setup,
    project: "Project",
    readings: list[Reading],
    outcomes: list[Outcome],
    wanted: Wanted,
    processes: Processes,
) -> list[Outcome]:
    """The outcomes after fixing the groups of files in which there is something to fix."""
    from amplint.engine.groups import groups
    from amplint.engine.session import Session
    from amplint.engine.shelf import Shelf

    fixable = {finding.path for outcome in outcomes for finding in outcome.edits}
    shelf = Shelf(again=wanted.again)
    chosen = [
        group
        for group in groups(Session(setup, project, shelf), readings, outcomes)
        if any(candidate.outcome.shown in fixable for candidate in group)
    ]
    give_back()
    parts = _parts(chosen, processes.count)
    again = {outcome.path: outcome for outcome in processes.each("fix", parts, setup, project, wanted, shelf)}
    return [again.get(outcome.path, outcome) for outcome in outcomes]


def _parts(groups: list[list[Candidate]], count: int) -> list[list[list[Candidate]]]:
    """Neighbouring groups together, since they share context: for every process some."""
    share = sum(candidate.reading.size for group in groups for candidate in group) / (count * _CHUNKS)
    parts: list[list[list[Candidate]]] = [[]]
    size = 0
    for group in groups:
        if count > 1 and size >= share:
            parts.append([])
            size = 0
        parts[-1].append(group)
        size += sum(candidate.reading.size for candidate in group)
    return parts


def _read(
    files: Sequence[FoundFile], stdin: bytes | None, named: set[str], memory: "Memory | None"
) -> tuple[list[Reading], list[Problem]]:
    readings: list[Reading] = []
    problems: list[Problem] = []
    cache = memory.cache if memory is not None else None
    for file in files:
        stamp = cache.known(file.place) if cache is not None else None
        if stamp is not None:
            if stamp.concerns:
                readings.append(Reading(file, stamp.size))
            continue
        try:
            raw = read_bytes(file.place) if stdin is None else stdin
        except SourceError as error:
            if os.path.exists(file.place) or file.display in named:
                problems.append(Problem(file.display, str(error)))
            continue
        concerns = may_concern(raw)
        if cache is not None:
            cache.read(file.place, raw, concerns)
        if concerns:
            readings.append(Reading(file, len(raw), raw))
    return readings, problems


def _chunks(project: "Project", readings: list[Reading], count: int, cwd: Path) -> list[list[Reading]]:
    """Neighbouring files together, since they share context: the largest chunk first, and for every process some.

    Between projects a chunk may end early, for nothing is shared there; within one, only when it is a process's share.
    """
    if count == 1:
        return [readings]
    share = sum(reading.size for reading in readings) / count
    folders = Folders()
    chunks: list[list[Reading]] = [[]]
    size, last = 0, None
    for reading in readings:
        root = folders.project_root(reading.file.path.parent, cwd, project.walked)
        if size >= (share if root == last else share / _CHUNKS):
            chunks.append([])
            size = 0
        chunks[-1].append(reading)
        size, last = size + reading.size, root
    return sorted(chunks, key=lambda chunk: -sum(reading.size for reading in chunk))


def _merged(report: Report, setup: Setup, outcomes: list[Outcome]) -> Run:
    changed: list[tuple[Path, Source, Source]] = []
    used = {pair for outcome in outcomes if outcome.silenced for pair in outcome.silenced.used}
    findings: dict[Finding, None] = {}
    texts: dict[str, Source] = {}
    edits: dict[Finding, tuple[Edit, ...]] = {}
    for outcome in outcomes:
        report.problems += outcome.problems
        findings.update(dict.fromkeys(outcome.findings))
        if outcome.silenced and outcome.silenced.present and outcome.silenced.present.entries:
            from amplint.engine.silence import comment_findings

            own = comment_findings(outcome.shown, outcome.silenced.present, used, setup.codes(outcome.path))
            findings.update(dict.fromkeys(own))
        texts |= outcome.texts
        edits |= outcome.edits
        report.applied += outcome.applied
        report.refused += outcome.refused
        report.assumes_target |= outcome.assumes_target
        for what, seconds in outcome.seconds.items():
            report.seconds[what] = report.seconds.get(what, 0.0) + seconds
        if outcome.source and outcome.fixed:
            changed.append((outcome.path, outcome.source, outcome.fixed))
    order = {outcome.shown: number for number, outcome in enumerate(outcomes)}
    # Several programs may lead to one place: what the first of them shows is enough.
    once = {(f.path, f.span, f.code, f.message): f for f in reversed(findings)}.values()
    report.findings = sorted(once, key=lambda f: (order.get(f.path, len(order)), f.path, f.span, f.code))
    report.texts, report.edits = texts, edits
    return Run(report, changed, frozenset().union(*(outcome.uses for outcome in outcomes)))
