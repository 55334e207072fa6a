import pytest

from tests.proof.generate import all_programs, random_programs
from tests.proof.programs import Program, Writer
from tests.proof.shrink import shrunk
from tests.proof.toy import EVENTS, expected, found


def disagrees(program: Program) -> bool:
    return found(program) != expected(program)


def assert_agreement(program: Program) -> None:
    if disagrees(program):
        small = shrunk(program, disagrees)
        pytest.fail(f"{Writer(small).text}\nreference: {sorted(expected(small))}\ngraph: {sorted(found(small))}")


@pytest.mark.parametrize("first", range(0, 1200, 400))
def test_the_fixpoint_finds_what_all_paths_find(first):
    for program in random_programs(400, EVENTS, first=first):
        assert_agreement(program)


def test_a_slim_graph_has_the_same_paths():
    for program in random_programs(400, EVENTS, first=5000):
        assert found(program, is_slim=True) == found(program), Writer(program).text


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_short_program(length):
    for program in all_programs(EVENTS, length):
        assert_agreement(program)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(10_000, 30_000, 2500))
def test_many_larger_programs(first):
    for program in random_programs(2500, EVENTS, first=first, size=20):
        assert_agreement(program)


@pytest.mark.exhaustive
@pytest.mark.parametrize("length", [4, 5, 6])
def test_every_longer_program(length):
    for program in all_programs(EVENTS, length):
        assert_agreement(program)
