import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants

ROOT = Path(__file__).parents[2]
SHARE = 0.85
MODULE = """
def paid(count, is_member):
    total = 0
    while count:
        total += 3
        count -= 1
    if is_member:
        total = total - 1
    return total


def forgotten(count):
    return count + 1
"""
TESTS = """
from shop import paid


def test_members_pay_less():
    assert (paid(2, True), paid(2, False)) == (5, 6)
"""


def mutation(folder: Path, *arguments: str) -> list[str]:
    """The lines that the command prints in a checkout."""
    command = [sys.executable, "-m", "tests.mutation", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.exhaustive
def test_the_fast_tests_notice_most_mutants():
    *left, told = mutation(ROOT, "300", "--jobs", "2")
    noticed, count = map(int, re.findall(r"\d+", told))
    assert noticed >= SHARE * count, "\n".join([*left, told])


def test_what_no_test_runs_survives_and_what_ends_never_is_noticed(tmp_path):
    shutil.copytree(Path(__file__).parent, tmp_path / "tests" / "mutation")
    (tmp_path / "shop.py").write_text(MODULE)
    (tmp_path / "tests" / "test_shop.py").write_text(TESTS)
    *left, told = mutation(tmp_path, "--paths", "shop.py", "--tests", "tests/test_shop.py")
    assert sorted(left) == [
        "shop.py:13  one more: 1  (0 tests)",
        "shop.py:13  operator: count + 1  (0 tests)",
        "shop.py:13  return None: return count + 1  (0 tests)",
    ]
    assert told == "10 of 13 noticed"


def test_a_mutant_differs_in_one_place(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""Doc."""\nMOST_STATES = 3\n\n\n'
        "def f(x: int = 1) -> bool:\n    if x and not x > 2:\n        return True\n    return False\n"
    )
    changes = [mutant.change.split(":")[0] for mutant in mutants(path)]
    assert sorted(changes) == [
        *("always", "and/or", "compare", "first part only", "never", "no not"),
        *("one more", "one more", "other truth", "other truth"),
    ]
    assert len({mutant.source for mutant in mutants(path)}) == len(changes)
