import pytest

pytest.importorskip("torch")

from tests.proof.amp import LIKELY, AmpWriter
from tests.proof.generate import random_programs
from tests.proof.programs import Program
from tests.proof.reality import Witnessed, witness
from tests.proof.shrink import shrunk
from tests.proof.table import table_errors


def crashes(program: Program) -> set[int]:
    return {line for line, _, is_crash in table_errors(program) if is_crash}


def disagrees(program: Program) -> bool:
    """Torch raises where the table does not say so on any path, or the other way round after all runs were made."""
    seen = witness(program)
    raised = {line for line, _ in seen.errors}
    return not raised <= crashes(program) or (seen.is_complete and raised != crashes(program))


def story(program: Program) -> str:
    seen: Witnessed = witness(program)
    return f"{AmpWriter(program).text}\ntorch: {sorted(seen.errors)}\ntable: {sorted(crashes(program))}"


@pytest.mark.parametrize("first", [0, 30, 60])
def test_torch_raises_where_the_table_says(first):
    for program in random_programs(30, LIKELY, first=first, has_handlers=False):
        if disagrees(program):
            pytest.fail(story(shrunk(program, disagrees)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 5000, 500))
def test_torch_raises_where_the_table_says_in_many_programs(first):
    for program in random_programs(500, LIKELY, first=first, has_handlers=False):
        if disagrees(program):
            pytest.fail(story(shrunk(program, disagrees)))
