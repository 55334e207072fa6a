"""Starts the runs of an experiment: where each stands, in how many processes, and what a program forces on all of them.

Knows two things that only a first run shows: files read relative to where one stands, and casts by hand.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

from amplint.runtime.drive import Driver, Run
from amplint.runtime.job import Detail, Job, Kept, Program, Treatment
from amplint.runtime.links import link_all
from amplint.runtime.ranks import run_ranks
from amplint.runtime.trace import Ending

_MIXED_DTYPES = re.compile(r"RuntimeError: .*\b(dtype|c10::Half|Half|BFloat16|half|scalar type)\b")

_MISSING = "FileNotFoundError|NotADirectoryError"


class Place(Enum):
    """Where runs stand: in an empty folder, in one with links to the person's files, or where the person stands."""

    FRESH = auto()
    LINKS = auto()
    SHARED = auto()


_RELATIVE = "The script reads files relative to its working directory"
_NOTES = {
    Place.LINKS: f"{_RELATIVE}: each run stands in a fresh folder with links to what lies there.",
    Place.SHARED: f"{_RELATIVE}, so all runs share that directory: "
    "files that one run writes (checkpoints) may change the next.",
}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all runs of an experiment have in common."""

    program: Program
    device: str = "cpu"
    steps: int | None = None
    seed: int = 0
    threads: int = 1
    processes: int = 1


class Workshop:
    """Makes runs, each in a fresh working directory where the program allows it."""

    def __init__(self, driver: Driver, conditions: Conditions) -> None:
        self._driver = driver
        self._conditions = conditions
        self._is_first = True
        self._place = Place.FRESH
        self.is_half_refused = False
        self.notes: list[str] = []

    def run(
        self,
        treatment: Treatment,
        detail: Detail,
        overlay: Mapping[str, str],
        probes: Mapping[str, Iterable[int]] | None = None,
    ) -> list[Run]:
        """One run, of each rank."""
        job = self._job(treatment, detail, overlay, probes or {})
        runs = self._start(job)
        misses_files = _has_raised(runs, _MISSING) or (self._is_first and not _has_stepped(runs))
        self._is_first = False
        if self._place is Place.FRESH and misses_files:
            runs = self._beside_the_persons_files(job, runs)
        if not self.is_half_refused and not treatment.is_autocast_on and _has_raised(runs, _MIXED_DTYPES):
            runs = self._without_own_casts(job, runs)
        return runs

    def _beside_the_persons_files(self, job: Job, runs: list[Run]) -> list[Run]:
        """The program reads files relative to where the person stands: links to them do, or the place itself does."""
        was_missing = _has_raised(runs, _MISSING)
        before = self._place
        for self._place in (Place.LINKS, Place.SHARED):
            again = self._start(replace(job, directory=self._directory()))
            if not _has_raised(again, _MISSING) and (was_missing or _has_stepped(again)):
                self.notes.append(_NOTES[self._place])
                return again
        self._place = before
        return runs

    def _without_own_casts(self, job: Job, runs: list[Run]) -> list[Run]:
        """The program casts to half precision by hand, which only fits where autocast casts the rest."""
        again = self._start(replace(job, is_half_refused=True, directory=self._directory()))
        if _has_raised(again, _MIXED_DTYPES):
            return runs
        self.is_half_refused = True
        self.notes.append(
            "The program casts to half precision by hand. Where autocast is off, it gets float32 instead: "
            "the dtypes would not fit else."
        )
        return again

    def _start(self, job: Job) -> list[Run]:
        if self._conditions.processes > 1:
            return run_ranks(self._driver, job, self._conditions.processes)
        return [self._driver.run(job)]

    def _directory(self) -> str:
        where = self._conditions.program.directory
        if self._place is Place.SHARED:
            return where
        folder = self._driver.fresh_folder("directory")
        if self._place is Place.LINKS:
            link_all(Path(where), Path(folder))
        return folder

    def _job(
        self,
        treatment: Treatment,
        detail: Detail,
        overlay: Mapping[str, str],
        probes: Mapping[str, Iterable[int]],
    ) -> Job:
        conditions = self._conditions
        return Job(
            program=conditions.program,
            folder="",
            directory=self._directory(),
            treatment=treatment,
            detail=detail,
            steps=conditions.steps,
            seed=conditions.seed,
            threads=conditions.threads,
            device=conditions.device,
            kept=Kept.PLACES,
            is_half_refused=self.is_half_refused,
            overlay=dict(overlay),
            probes={path: list(lines) for path, lines in probes.items()},
        )


def _has_stepped(runs: Iterable[Run]) -> bool:
    return any(run.trace.steps for run in runs)


def _has_raised(runs: Iterable[Run], error: str | re.Pattern[str]) -> bool:
    outcomes = [run.trace.outcome for run in runs]
    return any(each.ending is Ending.RAISED and re.search(error, each.error) for each in outcomes)
