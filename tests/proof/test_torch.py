import pytest

pytest.importorskip("torch")

from tests.proof.amp import LIKELY, AmpWriter
from tests.proof.generate import random_programs
from tests.proof.programs import Do, Program, Try, Var, While
from tests.proof.reality import witness
from tests.proof.shrink import shrunk
from tests.proof.table import table_reading


def disagrees(program: Program) -> bool:
    """Torch raises, or holds a stage, where the table says so of no path; or never does, though all runs were made."""
    seen, table = witness(program), table_reading(program)
    raised, crashes = {line for line, _ in seen.errors}, {line for line, _, is_crash in table.errors if is_crash}
    if seen.is_complete:
        return raised != crashes or seen.stages != table.stages
    return not (raised <= crashes and seen.stages <= table.stages)


def story(program: Program) -> str:
    return f"{AmpWriter(program).text}\ntorch: {witness(program)}\ntable: {table_reading(program)}"


@pytest.mark.parametrize("first", [0, 30, 60])
def test_torch_raises_where_the_table_says(first):
    for program in random_programs(30, LIKELY, first=first, has_handlers=False):
        if disagrees(program):
            pytest.fail(story(shrunk(program, disagrees)))


def test_what_a_clean_up_does_after_an_endless_run_was_stopped_shows_nothing():
    endless = Program((Try((While(Var("c0"), ()), Do("unscale")), (), (Do("step"),)),))
    assert not disagrees(endless)
    assert not witness(endless).is_complete


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 5000, 500))
def test_torch_raises_where_the_table_says_in_many_programs(first):
    for program in random_programs(500, LIKELY, first=first, has_handlers=False):
        if disagrees(program):
            pytest.fail(story(shrunk(program, disagrees)))
