"""Runs the command in a subprocess, as a person does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

AMP_CODE = "import torch\nfrom torch.cuda.amp import autocast\n"


def amplint(
    *arguments: str, cwd: Path, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished process, with its output as text."""
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    env |= {"PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run(
        [sys.executable, "-m", "amplint", *arguments], cwd=cwd, input=stdin, capture_output=True, env=env, check=False
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
