"""Runs whole processes and says what they cost; knows no tool."""

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Cost:
    """Medians over the runs: seconds on the clock, seconds of processors (all processes), MB of the largest process."""

    wall: float
    processor: float
    memory: float


def cost(command: Sequence[str], cwd: Path, runs: int, *, before: Sequence[str] = ()) -> Cost:
    """What a command costs in a folder; `before` runs, unmeasured, ahead of each run. Exit codes say nothing here."""
    samples = [_once(command, cwd, before) for _ in range(runs)]
    return Cost(*(median(sample[part] for sample in samples) for part in range(3)))


def ratio(command: Sequence[str], other: Sequence[str], cwd: Path, pairs: int) -> float:
    """How many times the processor time of another command one takes: the median over pairs of runs, in turns.

    A processor's speed changes from minute to minute by more than what is asked here, but hardly within a pair.
    """
    found = []
    for number in range(pairs):
        both = {each: _once(each, cwd, ())[1] for each in ((command, other) if number % 2 else (other, command))}
        found.append(both[command] / both[other])
    return median(found)


def _once(command: Sequence[str], cwd: Path, before: Sequence[str]) -> tuple[float, float, float]:
    if before:
        subprocess.run(before, cwd=cwd, check=True)
    # What is installed has its compiled modules beside it; this checkout is what is measured.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(_ROOT)
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = 0
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def own_processor_seconds() -> float:
    """Seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def fit(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent of growth: 1 where doubling the size doubles the value, by least squares over the logarithms."""
    from math import log

    xs, ys = [log(size) for size in sizes], [log(value) for value in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)
