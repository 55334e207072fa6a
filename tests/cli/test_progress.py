"""The progress line: late, and on a terminal only."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.cli.running import ROOT

PROGRAM = (
    "import time\nfrom amplint.cli import progress\nprogress._PATIENCE = 0.05\n"
    "with progress.progress('checking', is_wanted={wanted}):\n    time.sleep(0.3)\n"
)


def _on_a_terminal(program: str) -> str:
    """What a program writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, stderr=theirs, check=True)
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 1000):
            written += piece
    except OSError:
        pass
    os.close(ours)
    return written.decode()


def test_a_long_run_says_so_and_cleans_up() -> None:
    written = _on_a_terminal(PROGRAM.format(wanted=True))
    assert "\ramplint: checking … 0 s" in written
    assert written.endswith(" \r")


def test_nobody_else_sees_it(tmp_path: Path) -> None:
    assert _on_a_terminal(PROGRAM.format(wanted=False)) == ""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(wanted=True)], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stderr == b""
