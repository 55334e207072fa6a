"""What tutorials get wrong: each script fails as it is written, and runs once it is fixed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

SCRIPTS = sorted(
    path for path in (Path(__file__).parent / "fixtures").glob("AMP1*/bad_tutorial_*.py") if ".fixed" not in path.name
)


def run(script: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_fails_and_runs_once_it_is_fixed(script: Path) -> None:
    before = run(script)
    assert before.returncode == 1
    assert any(error in before.stderr for error in ("TypeError", "AttributeError"))
    fixed = script.with_name(f"{script.stem}.fixed.py")
    if fixed.exists():
        after = run(fixed)
        assert after.returncode == 0, after.stderr
        assert "FutureWarning" not in after.stderr
