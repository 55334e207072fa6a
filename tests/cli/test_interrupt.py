"""An interrupt ends a run at once, without a word, and leaves no half of anything."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import ROOT

FILES = 120
SLOW = "import torch\nfrom torch.cuda.amp import autocast\n" + "x = [(a, b.c(d=1)) for a in range(3) if a]\n" * 1500


@pytest.mark.parametrize("flags", [["--jobs", "1"], ["--jobs", "2"], ["--jobs", "2", "--fix"]])
@pytest.mark.parametrize("whole_group", [True, False])
def test_interrupt(tmp_path: Path, flags: list[str], whole_group: bool) -> None:
    for number in range(FILES):
        (tmp_path / f"f{number}.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "amplint", "--no-cache", *flags],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
        # A shell starts what runs in the background with interrupts ignored, and that is handed on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(2.5)  # until it is loaded, also beside other tests
    assert process.poll() is None, "the tree is too small for this machine"
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")
    assert {path.name for path in tmp_path.iterdir()} == {f"f{number}.py" for number in range(FILES)}
    texts = {path.read_text() for path in tmp_path.glob("*.py")}
    assert all(text.endswith("if a]\n") for text in texts)
