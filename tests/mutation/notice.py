"""Runs over mutants the tests that come by them, and tells which nobody notices."""

import os
from collections.abc import Iterator, Sequence

from tests.mutation.child import forked, is_noticed
from tests.mutation.mutants import Mutant
from tests.mutation.record import Record


def verdicts(chosen: Sequence[Mutant], record: Record, jobs: int = 1) -> Iterator[tuple[Mutant, bool]]:
    """Every mutant, as it comes, and whether a test noticed it. One that no test comes by is not noticed."""
    running: dict[int, Mutant] = {}
    for mutant in chosen:
        tests = record.tests_of(mutant)
        if not tests:
            yield mutant, False
            continue
        if len(running) == jobs:
            yield _ended(running)
        running[forked(lambda m=mutant, t=tests: is_noticed(m, t, record.seconds))] = mutant
    while running:
        yield _ended(running)


def _ended(running: dict[int, Mutant]) -> tuple[Mutant, bool]:
    number, status = os.wait()
    return running.pop(number), status != 0
