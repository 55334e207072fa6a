import pytest

from tests.mutation.mutants import mutants, sample
from tests.mutation.notice import PATHS, TESTS, survivors

SHARE = 0.85


@pytest.mark.exhaustive
def test_the_fast_tests_notice_most_mutants():
    chosen = sample(PATHS, 300, seed=0)
    left = survivors(chosen, TESTS)
    told = "\n".join(f"{mutant.path.name}:{mutant.line} {mutant.change}" for mutant in left)
    assert len(left) <= (1 - SHARE) * len(chosen), told


def test_a_mutant_differs_in_one_place(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""Doc."""\nMOST_STATES = 3\n\n\n'
        "def f(x: int = 1) -> bool:\n    if x and not x > 2:\n        return True\n    return False\n"
    )
    changes = [mutant.change.split(":")[0] for mutant in mutants(path)]
    assert sorted(changes) == [
        *("always", "and/or", "compare", "first part only", "never", "no not"),
        *("one more", "one more", "other truth", "other truth", "return None", "return None"),
    ]
    assert len({mutant.source for mutant in mutants(path)}) == len(changes)
