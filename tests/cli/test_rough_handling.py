"""Full disks, killed runs and two runs at once: a file is the old one or a fixed one, never something between."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import ROOT

OLD = "import torch\nfrom torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n" + "x = 1  # é\n" * 3000
NEW = OLD.replace("from torch.cuda.amp import", "from torch.amp import").replace("autocast()", 'autocast("cuda")')
FILES = 30


def _start(folder: Path, **more: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "amplint", "--fix", "--no-cache", "--isolated", "--jobs", "1", "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(command, cwd=folder, stdout=-1, stderr=-1, env=environment, **more)  # type: ignore[call-overload, no-any-return]


def _fill(folder: Path) -> None:
    for number in range(FILES):
        (folder / f"f{number}.py").write_text(OLD)


def _assert_whole(folder: Path) -> None:
    assert {path.read_text() for path in folder.glob("*.py")} <= {OLD, NEW}
    assert len(list(folder.glob("*.py"))) == FILES


@pytest.mark.parametrize("after", [0.2, 0.6, 1.0, 1.4, 1.8, 2.2])
def test_a_killed_run_leaves_whole_files(tmp_path: Path, after: float) -> None:
    _fill(tmp_path)
    process = _start(tmp_path)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _assert_whole(tmp_path)


@pytest.mark.parametrize("after", [0.5, 1.0, 1.5])
def test_a_run_that_is_asked_to_end_leaves_no_scraps(tmp_path: Path, after: float) -> None:
    _fill(tmp_path)
    process = _start(tmp_path)
    time.sleep(after)
    process.terminate()
    _, errors = process.communicate()
    # Asked before it could listen, or when it was done, it ends as any program does.
    assert process.returncode in (143, -signal.SIGTERM, 0)
    assert b"Traceback" not in errors
    _assert_whole(tmp_path)
    assert len(list(tmp_path.iterdir())) == FILES


def test_two_runs_at_once_leave_whole_files(tmp_path: Path) -> None:
    _fill(tmp_path)
    runs = [_start(tmp_path), _start(tmp_path)]
    for run in runs:
        _, errors = run.communicate()
        assert b"Traceback" not in errors
    assert {path.read_text() for path in tmp_path.glob("*.py")} == {NEW}


def test_a_full_disk_is_a_problem_and_leaves_the_old_file(tmp_path: Path) -> None:
    _fill(tmp_path)
    (tmp_path / "small.py").write_text(OLD.partition("x = 1")[0])
    limit = (len(OLD) // 2, len(OLD) // 2)
    process = _start(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    _, errors = process.communicate()
    assert process.returncode == 2
    assert b"Traceback" not in errors
    assert b"f7.py: " in errors
    small = (tmp_path / "small.py").read_text()
    assert small == NEW.partition("x = 1")[0], "the file for which there is room is fixed all the same"
    assert {path.read_text() for path in tmp_path.glob("f*.py")} == {OLD}
    assert len(list(tmp_path.iterdir())) == FILES + 1, "no temporary file is left"
