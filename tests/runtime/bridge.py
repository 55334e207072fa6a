"""Drives fixtures of the static rules as programs, and compares what the sanitizer says with what they expect."""

import re
from dataclasses import dataclass
from pathlib import Path

from amplint.runtime.drive import Driver
from amplint.runtime.job import AS_IS, Detail, Job, Program, Treatment
from amplint.runtime.laboratory import overflow_at
from amplint.runtime.trace import Trace

FIXTURES = Path(__file__).parent.parent / "fixtures"
MAIN = Path(__file__).parent / "fixture_main.py"
MARK = re.compile(r"^# runnable: (\w+)", re.MULTILINE)

NOT_THE_PROGRAM = ("no argument for", "must be Tensor", "0D", "scalar outputs", "No module named", "has no attribute")
"""Errors that say that the made-up arguments do not fit the function."""

SAME_DEATH = {"AMP213": {"AMP206"}, "AMP303": {"AMP206"}}
"""A run that ends at its first update cannot tell what would have come after it."""

SHOWN_BY_AN_OVERFLOW = ("AMP212", "AMP601")
"""Rules about what follows a skipped step."""


@dataclass(frozen=True)
class Fixture:
    """A fixture that can be run: its file and the function to call."""

    path: Path
    function: str

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}-{self.path.stem}"

    @property
    def fixed_path(self) -> Path:
        """Where its golden would lie."""
        return self.path.with_suffix(".fixed.py")

    def expected(self) -> set[tuple[str, int]]:
        """The codes that the fixture expects, with their lines and those of the notes."""
        found: set[tuple[str, int]] = set()
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            _, _, comment = line.partition("# expect:")
            found.update((code, number) for code in re.findall(r"AMP\d+", comment))
        return found


def runnable() -> list[Fixture]:
    """The fixtures that carry the mark."""
    found = []
    for path in sorted(FIXTURES.glob("AMP*/*.py")):
        mark = MARK.search(path.read_text(encoding="utf-8"))
        if mark is not None:
            found.append(Fixture(path, mark[1]))
    return found


def drive(driver: Driver, fixture: Fixture) -> Trace:
    """Run a fixture, with models that give outputs or, where that does not fit, losses; skips need an overflow."""
    treatment = overflow_at(3) if fixture.path.parent.name in SHOWN_BY_AN_OVERFLOW else AS_IS
    trace = Trace()
    for kind in ("outputs", "losses"):
        trace = _run(driver, fixture, kind, treatment)
        if fits(trace):
            break
    return trace


def fits(trace: Trace) -> bool:
    """Whether what the run did is the fixture's own doing."""
    return not any(text in trace.outcome.error for text in NOT_THE_PROGRAM)


def _run(driver: Driver, fixture: Fixture, kind: str, treatment: Treatment) -> Trace:
    directory = driver.fresh_folder("directory")
    return driver.run(Job(program_of(fixture, kind), "", directory, treatment, Detail.EVENTS, device="cpu")).trace


def program_of(fixture: Fixture, kind: str) -> Program:
    """The program that calls a fixture's function. kind says whether models give outputs or losses."""
    return Program(str(MAIN), False, (str(fixture.path), fixture.function, kind), str(FIXTURES), str(MAIN.parent))


def seen_in(fixture: Fixture, trace: Trace) -> set[tuple[str, int]]:
    """The codes that the sanitizer reports in the fixture, each with its line and those of its notes."""
    return {
        (each.code, site.line)
        for each in trace.sightings
        for site in (each.site, *(site for site, _ in each.notes))
        if site.path == str(fixture.path)
    }
