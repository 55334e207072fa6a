"""Runs the fast tests over mutants in copies of the repository, and tells which they notice."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.mutants import Mutant

ROOT = Path(__file__).parents[2]
PATHS = [*sorted((ROOT / "amplint" / "flow").glob("*.py")), ROOT / "amplint" / "facts" / "protocol.py"]
REPORTED = "tests/gate/test_gate.py::test_a_mistake_is_reported_by_its_own_rule_alone"
TESTS = ["tests/flow", "tests/proof/test_flow.py", "tests/proof/test_reader.py", REPORTED]
# A mutant may make a loop endless.
MOST_SECONDS = 600


def survivors(chosen: Sequence[Mutant], tests: Sequence[str], jobs: int = 2) -> list[Mutant]:
    """The mutants that none of the tests notices. Raises AssertionError where the tests fail without any mutant."""
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for copy in _copies(Path(folder), jobs):
            copies.put(copy)
        assert _passes(copy, tests), "the tests fail without a mutant"

        def survives(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return not _is_noticed(mutant, copy, tests)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            return [mutant for mutant, lives in zip(chosen, pool.map(survives, chosen), strict=True) if lives]


def _copies(folder: Path, count: int) -> Iterator[Path]:
    for number in range(count):
        copy = folder / str(number)
        for part in ("amplint", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        yield copy


def _is_noticed(mutant: Mutant, copy: Path, tests: Sequence[str]) -> bool:
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text()
    target.write_text(mutant.source)
    try:
        return not _passes(copy, tests)
    finally:
        target.write_text(original)


def _passes(copy: Path, tests: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0
