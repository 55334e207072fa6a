"""How time and memory grow with files, with functions of a file and with branches of a function."""

import tracemalloc
from collections.abc import Callable, Iterator, Sequence

from amplint.engine.alone import check_alone
from tests.benchmarks.measure import fit, own_processor_seconds
from tests.benchmarks.programs import program


def curves() -> Iterator[str]:
    """One line of the table for each curve."""
    yield _curve("functions of a file", (25, 50, 100, 200), lambda size: program(size, branches=2, wrong=size))
    yield _curve("branches of a function", (8, 16, 32, 64), lambda size: program(12, branches=size, wrong=12))


def exponent(sizes: Sequence[int], make: Callable[[int], str]) -> float:
    """By which power of the size the time grows."""
    return fit(sizes, [_seconds(make(size)) for size in sizes])


def _curve(what: str, sizes: Sequence[int], make: Callable[[int], str]) -> str:
    times = [_seconds(make(size)) for size in sizes]
    memory = [_peak(make(size)) for size in sizes]
    shown = (", ".join(map(str, sizes)), ", ".join(f"{t:.2f}" for t in times), ", ".join(f"{m:.0f}" for m in memory))
    return f"| {what} | {shown[0]} | {shown[1]} | {fit(sizes, times):.2f} | {shown[2]} |"


def _seconds(text: str) -> float:
    check_alone("train.py", "import torch\n", ["AMP"], None)
    start = own_processor_seconds()
    check_alone("train.py", text, ["AMP"], None)
    return own_processor_seconds() - start


def _peak(text: str) -> float:
    tracemalloc.start()
    check_alone("train.py", text, ["AMP"], None)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak
