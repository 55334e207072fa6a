"""A few programs of every run; `python -m tests.fuzz` makes as many as one wants."""

import os

import pytest

from tests.fuzz.__main__ import generated, run


def test_every_promise_holds_for_generated_programs() -> None:
    assert run(generated(seed=1, first=0, number=300), "generated").broken == []


@pytest.mark.exhaustive
def test_every_promise_holds_for_many_generated_programs() -> None:
    seed = int(os.environ.get("AMPLINT_SEED", "2"))
    assert run(generated(seed, first=0, number=20_000), "generated").broken == []


def test_a_program_can_be_drawn_again_by_its_number() -> None:
    many = list(generated(3, 0, 20))
    assert many[7:9] == list(generated(3, 7, 2))
    assert len({program.raw for program in many}) == 20
