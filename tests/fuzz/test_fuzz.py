"""A few programs of every run; `python -m tests.fuzz` makes as many as one wants."""

import os

import pytest

from tests.fuzz.__main__ import run
from tests.fuzz.generate import Programs


def test_every_promise_holds_for_generated_programs() -> None:
    programs = Programs(seed=1)
    assert run((programs.draw() for _ in range(40)), "generated") == 0


@pytest.mark.exhaustive
def test_every_promise_holds_for_many_generated_programs() -> None:
    programs = Programs(seed=int(os.environ.get("AMPLINT_SEED", "2")))
    assert run((programs.draw() for _ in range(5000)), "generated") == 0


def test_the_same_seed_draws_the_same_programs() -> None:
    one, other = Programs(3), Programs(3)
    assert [one.draw() for _ in range(20)] == [other.draw() for _ in range(20)]
