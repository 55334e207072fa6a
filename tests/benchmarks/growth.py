"""How time and memory grow with files, with lines and functions of a file and with branches of a function."""

import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplint.engine.alone import check_alone
from tests.benchmarks.measure import cost, fit, own_processor_seconds
from tests.benchmarks.programs import long_program, old_calls, plain_tree, program, tree


@dataclass(frozen=True)
class Growth:
    """What grew, to which sizes, and what each size took: seconds of processors, MB at the most."""

    what: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    memory: tuple[float, ...]

    @property
    def exponents(self) -> tuple[float, float]:
        """By which powers of the size time and memory grow."""
        return fit(self.sizes, self.seconds), fit(self.sizes, self.memory)

    def row(self) -> str:
        """The row of a table."""
        time, memory = (f"{exponent:.2f}" for exponent in self.exponents)
        seconds, peaks = ", ".join(f"{t:.2f}" for t in self.seconds), ", ".join(f"{m:.0f}" for m in self.memory)
        return f"| {self.what} | {', '.join(map(str, self.sizes))} | {seconds} | {time} | {peaks} | {memory} |"


@dataclass(frozen=True)
class Curve:
    """Something that grows: sizes to measure, smaller ones for a test, how to measure one, and the exponent to hold."""

    what: str
    sizes: tuple[int, ...]
    small: tuple[int, ...]
    measure: Callable[[int], tuple[float, float]]
    most: float = 1.4

    def growth(self, sizes: tuple[int, ...]) -> Growth:
        """What each size takes."""
        self.measure(sizes[0])  # loads what has to be loaded
        points = [self.measure(size) for size in sizes]
        return Growth(self.what, sizes, tuple(point[0] for point in points), tuple(point[1] for point in points))


def exponent(sizes: Sequence[int], make: Callable[[int], str]) -> float:
    """By which power of the size the time grows that checking a made program takes."""
    check_alone("train.py", "import torch\n", ["AMP"], None)
    return fit(sizes, [_seconds(make(size)) for size in sizes])


def _of_program(make: Callable[[int], str]) -> Callable[[int], tuple[float, float]]:
    return lambda size: (_seconds(make(size)), _peak(make(size)))


def _of_files(size: int) -> tuple[float, float]:
    """A tree of so many files, one half with AMP, checked by one process."""
    with tempfile.TemporaryDirectory() as folder:
        tree(Path(folder), size // 2, functions=1)
        plain_tree(Path(folder), size - size // 2)
        command = (sys.executable, "-m", "amplint", ".", "-q", "--exit-zero", "--no-cache", "--jobs", "1")
        found = cost(command, Path(folder), 1)
    return found.processor, found.memory


CURVES = (
    Curve("files of a tree, half of them with AMP", (250, 500, 1000, 2000, 4000), (50, 100, 200), _of_files),
    Curve("lines of a file", (1000, 2000, 4000, 8000, 16000), (1000, 2000, 4000), _of_program(long_program)),
    Curve(
        "training functions of a file",
        (25, 50, 100, 200),
        (20, 40, 80),
        _of_program(lambda size: program(size, branches=2, wrong=size)),
    ),
    Curve("findings of a file", (500, 1000, 2000, 4000), (400, 800, 1600), _of_program(old_calls)),
    Curve(
        "branches of a function",
        (8, 16, 32, 64),
        (8, 16, 32),
        _of_program(lambda size: program(12, branches=size, wrong=12)),
    ),
)


def _seconds(text: str) -> float:
    start = own_processor_seconds()
    check_alone("train.py", text, ["AMP"], None)
    return own_processor_seconds() - start


def _peak(text: str) -> float:
    tracemalloc.start()
    check_alone("train.py", text, ["AMP"], None)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak
