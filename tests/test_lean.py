"""LibCST as a process of its own loads it reads every fixture as LibCST does, and nobody else gets that LibCST."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """
import dataclasses, hashlib, pathlib, sys
if sys.argv[1] == "lean":
    from amplint.syntax.lean import load_lean
    before = dataclasses.dataclass
    load_lean()
    assert dataclasses.dataclass is before
import libcst
from amplint.syntax.parse import lowered_by_libcst
print("__setattr__" in vars(libcst.Name))
for path in sorted(pathlib.Path("tests/fixtures").glob("AMP?0[1-5]/bad*.py")):
    tree = lowered_by_libcst(path.read_text("utf-8"))
    print(path.name, hashlib.sha256(repr(tree).encode()).hexdigest())
"""


def _read(how: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    return done.stdout.splitlines()


def test_loaded_lean_it_reads_the_same() -> None:
    (is_frozen, *whole), (is_still_frozen, *lean) = _read("whole"), _read("lean")
    assert (is_frozen, is_still_frozen) == ("True", "False")
    assert len(whole) > 100
    assert lean == whole
