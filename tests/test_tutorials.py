"""What tutorials get wrong: each script fails as it is written, and runs once it is fixed."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

SCRIPTS = sorted(
    path for path in (Path(__file__).parent / "fixtures").glob("AMP1*/bad_tutorial_*.py") if ".fixed" not in path.name
)


# Loading torch takes longer than the scripts do: one process has loaded it, and becomes each of them in a fork.
WARMED = """
import os, runpy, sys, torch._dynamo
for line in sys.stdin:
    script, errors = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        sys.argv = [script]
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="__main__")
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
Run = Callable[[Path], tuple[int, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs a script: its exit code, and what it writes to standard error."""
    folder = tmp_path_factory.mktemp("errors")
    command = [sys.executable, "-c", WARMED]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def call(script: Path) -> tuple[int, str]:
            errors = folder / f"{script.stem}.txt"
            process.stdin.write(f"{script}\t{errors}\n")
            process.stdin.flush()
            return int(process.stdout.readline()), errors.read_text()

        yield call
        process.stdin.close()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_fails_and_runs_once_it_is_fixed(script: Path, run: Run) -> None:
    code, errors = run(script)
    assert code == 1
    assert any(error in errors for error in ("TypeError", "AttributeError"))
    fixed = script.with_name(f"{script.stem}.fixed.py")
    if fixed.exists():
        code, errors = run(fixed)
        assert code == 0, errors
        assert "FutureWarning" not in errors
