"""Runs over mutants the tests that come by them, and tells which nobody notices."""

import os
from collections.abc import Iterator, Sequence

from tests.mutation.child import BROKEN, forked, is_noticed
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
    """The next child that ends. One that went past its limits was ended by a signal: that is noticed too."""
    number, status = os.wait()
    mutant = running.pop(number)
    assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == BROKEN), f"the tests were not run: {mutant.change}"
    return mutant, status != 0
