"""Runs variants of a program under treatments, each once; concludes nothing."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy

from amplint.runtime.drive import Driver, Run
from amplint.runtime.job import AMP_OFF, AS_IS, Detail, ScalerTreatment, Treatment
from amplint.runtime.trace import Trace
from amplint.runtime.workshop import Conditions, Workshop

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


class Laboratory:
    """Runs of one program. A variant is a set of texts (real path to text) that replace files.

    Where several processes train, answers are those of one rank; `ranks` gives the views on the others.
    """

    def __init__(
        self, driver: Driver, conditions: Conditions, on_run: Callable[[str, str], None] = lambda variant, run: None
    ) -> None:
        self.conditions = conditions
        self.rank = 0
        self._workshop = Workshop(driver, conditions)
        self._on_run = on_run
        self._variants: dict[str, Mapping[str, str]] = {}
        self._runs: dict[tuple[str, Treatment, Detail], list[Run]] = {}
        self._probes: dict[str, list[int]] = {}
        self.original = "the program"

    @property
    def notes(self) -> list[str]:
        """What a person has to know of all runs."""
        return self._workshop.notes

    def ranks(self) -> "list[Laboratory]":
        """A view for each process of the program; all share their runs."""
        views = [copy(self) for _ in range(self.conditions.processes)]
        for rank, view in enumerate(views):
            view.rank = rank
        return views

    def add(self, name: str, overlay: Mapping[str, str]) -> None:
        """Name a variant."""
        self._variants[name] = overlay

    def probe(self, path: str, lines: Iterable[int]) -> None:
        """Ask, for the one run that answers `reached`, whether these lines of a file are reached."""
        self._probes.setdefault(path, []).extend(lines)

    def reached(self) -> dict[str, set[int]]:
        """The probed lines that the program as it is reaches, by path."""
        key = (_REACHED, AS_IS, Detail.PACE)
        if key not in self._runs:
            self._on_run(self.original, "which lines are reached")
            self._runs[key] = self._workshop.run(
                AS_IS, Detail.PACE, self._variants.get(self.original, {}), self._probes
            )
        found = self._runs[key][self.rank].trace.summary.get("reached", {})
        return {path: set(lines) for path, lines in found.items()}

    def trace(self, variant: str, treatment: Treatment = AS_IS) -> Trace:
        """The trace of a variant under a treatment."""
        return self.run(variant, treatment).trace

    def traces(self, variant: str, treatment: Treatment = AS_IS) -> list[Trace]:
        """The traces of all ranks."""
        return [run.trace for run in self._of_all_ranks(variant, treatment, Detail.FULL)]

    def run(self, variant: str, treatment: Treatment = AS_IS, detail: Detail = Detail.FULL) -> Run:
        """The run of a variant under a treatment; the same one where it was run before."""
        return self._of_all_ranks(variant, treatment, detail)[self.rank]

    def _of_all_ranks(self, variant: str, treatment: Treatment, detail: Detail) -> list[Run]:
        if treatment == DISABLED:
            treatment = AMP_OFF
        key = (variant, treatment, detail)
        if key not in self._runs:
            self._on_run(variant, treatment.name)
            refused = self._workshop.is_half_refused
            runs = self._workshop.run(treatment, detail, self._variants.get(variant, {}))
            if self._workshop.is_half_refused is not refused:
                # Runs with autocast off must have this in common to be compared.
                for known in [known for known in self._runs if not known[1].is_autocast_on]:
                    del self._runs[known]
            self._runs[key] = runs
        return self._runs[key]

    def runs(self) -> list[tuple[str, Run]]:
        """Every run so far, of each rank, with the name of its variant."""
        return [(variant, run) for (variant, _, _), ranks in self._runs.items() if variant != _REACHED for run in ranks]


_REACHED = "which lines are reached"
