"""Two readers of one table: the linter's, over graphs and real calls; the reference, over structure."""

import pytest

from tests.proof.amp import LIKELY, AmpWriter
from tests.proof.generate import all_programs, random_programs
from tests.proof.programs import Do, If, Program, Raise, Statement, Var, While, bodies, calls, events
from tests.proof.reader import reader_errors, spoken
from tests.proof.shrink import shrunk
from tests.proof.table import table_errors, table_reading

SCALING = frozenset({"scaled", "unscale", "step", "update"})
STEPPING = frozenset({"unscale", "step", "direct", "zero"})
SHORT = ("scaled", "unscale", "clip", "step", "update")


def is_comparable(program: Program) -> bool:
    """Nobody knows a scaler or an optimizer that nothing uses, and nobody follows a helper that does nothing but
    perhaps not return."""
    called = [program.body]
    for body in called:
        called.extend(program.helpers[number] for number in calls(body) if program.helpers[number] not in called)
    if not all(any(events(body)) or not any(map(_may_not_return, body)) for body in called[1:]):
        return False
    used = table_reading(program).events
    return not SCALING.isdisjoint(used) and not STEPPING.isdisjoint(used)


def _may_not_return(statement: Statement) -> bool:
    return isinstance(statement, Raise | While) or any(_may_not_return(s) for body in bodies(statement) for s in body)


def by_table(program: Program) -> set[tuple[int, str]]:
    return {(line, reason) for line, reason, _ in spoken(table_errors(program))}


def by_reader(program: Program) -> set[tuple[int, str]]:
    return {(line, reason) for line, reason, _ in reader_errors(program)}


def disagrees(program: Program) -> bool:
    return is_comparable(program) and by_reader(program) != by_table(program)


def assert_agreement(program: Program) -> None:
    if disagrees(program):
        small = shrunk(program, disagrees)
        told = f"table: {sorted(by_table(small))}\nreader: {sorted(by_reader(small))}"
        pytest.fail(f"{AmpWriter(small).text}\n{told}")


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_the_reader_finds_what_the_table_says_of_all_paths(first):
    for program in random_programs(250, LIKELY, first=first, has_handlers=False):
        assert_agreement(program)


def test_nothing_happens_behind_a_loop_that_is_never_left():
    """Its test decides what runs, though both of its outcomes lead to the same steps."""
    endless = While(Var("c1"), ())
    program = Program((If(Var("c1"), (endless, Do("plain"), Do("unscale"), Do("step"))), Do("update")), (), False)
    assert_agreement(program)
    assert not by_reader(program)


@pytest.mark.parametrize("length", [1, 2])
def test_every_short_program(length):
    for program in all_programs(SHORT, length):
        assert_agreement(program)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(20_000, 40_000, 1000))
def test_many_programs(first):
    for program in random_programs(1000, LIKELY, first=first, size=16, has_handlers=False):
        assert_agreement(program)


@pytest.mark.exhaustive
@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_every_longer_program(length):
    for program in all_programs(SHORT, length):
        assert_agreement(program)
