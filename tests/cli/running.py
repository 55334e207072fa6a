"""Runs the command in a process of its own, as a person does."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.warm import become, can_become

ROOT = Path(__file__).parent.parent.parent

AMP_CODE = "import torch\nfrom torch.cuda.amp import autocast\n"


def amplint(
    *arguments: str, cwd: Path, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished process, with its output as text; a new interpreter where the environment has a say in it."""
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    env |= {"PYTHONPATH": str(ROOT), **(environment or {})}
    if can_become(environment or {}):
        done = become(arguments, cwd, stdin, env)
    else:
        command = [sys.executable, "-m", "amplint", *arguments]
        done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=env, check=False)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
