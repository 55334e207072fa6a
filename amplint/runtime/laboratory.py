"""Runs variants of a program under treatments, each once, in fresh working directories; concludes nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from amplint.runtime.drive import Driver, Run
from amplint.runtime.job import AMP_OFF, AS_IS, Detail, Job, Program, ScalerTreatment, Treatment
from amplint.runtime.ranks import run_ranks
from amplint.runtime.trace import Ending, Trace

DISABLED = Treatment("autocast off, scaler off", is_autocast_on=False, scaler=ScalerTreatment.OFF)
SMALL = Treatment("autocast off, scale 2^4", is_autocast_on=False, scaler=ScalerTreatment.FORCED, scale=2.0**4)
LARGE = Treatment("autocast off, scale 2^10", is_autocast_on=False, scaler=ScalerTreatment.FORCED, scale=2.0**10)
GROWING = Treatment(
    "autocast off, scale 2^4, growth_interval 1",
    is_autocast_on=False,
    scaler=ScalerTreatment.FORCED,
    scale=2.0**4,
    growth_interval=1,
)
OWN_SCALE = Treatment("autocast off, the script's own scale", is_autocast_on=False, scaler=ScalerTreatment.FORCED)
SCALES = (SMALL, LARGE, GROWING, OWN_SCALE)


def overflow_at(number: int) -> Treatment:
    """The script's own AMP, with infinite gradients from one `scale()` call."""
    return Treatment(f"overflow put into scale() number {number}", overflow_at=number)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all runs of an experiment have in common."""

    program: Program
    device: str = "cpu"
    steps: int | None = None
    seed: int = 0
    threads: int = 1
    processes: int = 1


class Laboratory:
    """Runs of one program. A variant is a set of texts (real path to text) that replace files."""

    def __init__(
        self, driver: Driver, conditions: Conditions, on_run: Callable[[str, str], None] = lambda variant, run: None
    ) -> None:
        self.conditions = conditions
        self._driver = driver
        self._on_run = on_run
        self._variants: dict[str, Mapping[str, str]] = {}
        self._runs: dict[tuple[str, Treatment, Detail], Run] = {}
        self._shares_directory = False
        self._probes: dict[str, list[int]] = {}
        self._reached: dict[str, set[int]] | None = None
        self.original = "the program"
        self.notes: list[str] = []

    def add(self, name: str, overlay: Mapping[str, str]) -> None:
        """Name a variant."""
        self._variants[name] = overlay

    def probe(self, path: str, lines: Iterable[int]) -> None:
        """Ask, for the one run that answers `reached`, whether these lines of a file are reached."""
        self._probes.setdefault(path, []).extend(lines)

    def reached(self) -> dict[str, set[int]]:
        """The probed lines that the program as it is reaches, by path."""
        if self._reached is None:
            self._on_run(self.original, "which lines are reached")
            job = replace(self._job(self.original, AS_IS, Detail.PACE), probes=self._probes)
            found = self._driver.run(job).trace.summary.get("reached", {})
            self._reached = {path: set(lines) for path, lines in found.items()}
        return self._reached

    def trace(self, variant: str, treatment: Treatment = AS_IS) -> Trace:
        """The trace of a variant under a treatment."""
        return self.run(variant, treatment).trace

    def run(self, variant: str, treatment: Treatment = AS_IS, detail: Detail = Detail.FULL) -> Run:
        """The run of a variant under a treatment; the same one where it was run before."""
        if treatment == DISABLED:
            treatment = AMP_OFF
        key = (variant, treatment, detail)
        if key not in self._runs:
            self._on_run(variant, treatment.name)
            self._runs[key] = self._fresh(variant, treatment, detail)
        return self._runs[key]

    def runs(self) -> list[tuple[str, Run]]:
        """Every run so far with the name of its variant."""
        return [(variant, run) for (variant, _, _), run in self._runs.items()]

    def _fresh(self, variant: str, treatment: Treatment, detail: Detail) -> Run:
        if self.conditions.processes > 1:
            return run_ranks(self._driver, self._job(variant, treatment, detail), self.conditions.processes)[0]
        run = self._driver.run(self._job(variant, treatment, detail))
        if self._shares_directory or run.trace.outcome.ending is not Ending.RAISED:
            return run
        if "FileNotFoundError" not in run.trace.outcome.error:
            return run
        # The script reads files relative to where the person stands.
        self._shares_directory = True
        again = self._driver.run(self._job(variant, treatment, detail))
        if "FileNotFoundError" in again.trace.outcome.error:
            self._shares_directory = False
            return run
        self.notes.append(
            "The script reads files relative to its working directory, so all runs share that directory: "
            "files that one run writes (checkpoints) may change the next."
        )
        return again

    def _job(self, variant: str, treatment: Treatment, detail: Detail) -> Job:
        conditions = self.conditions
        directory = conditions.program.directory
        return Job(
            program=conditions.program,
            folder="",
            directory=directory if self._shares_directory else self._driver.fresh_folder("directory"),
            treatment=treatment,
            detail=detail,
            steps=conditions.steps,
            seed=conditions.seed,
            threads=conditions.threads,
            device=conditions.device,
            overlay=dict(self._variants.get(variant, {})),
        )
