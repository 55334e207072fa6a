"""Runs the command on a terminal of its own, as a person sees it."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.cli.running import ROOT


def on_a_terminal(*arguments: str, cwd: Path, columns: int = 80, environment: dict[str, str] | None = None) -> str:
    """What the command writes to a terminal of this many columns, line feeds alone between the lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    variables = kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **(environment or {})}
    command = [sys.executable, "-m", "amplint", *arguments]
    with subprocess.Popen(command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=variables):
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 4096):
                written += piece
        except OSError:  # the command has closed its end
            pass
    os.close(ours)
    return written.decode().replace("\r\n", "\n")
