"""Asks git about a repository that is not trusted: nothing that its own configuration names is run or fetched."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

# A monitor and hooks are programs; a repository that holds a part of its objects fetches others when asked.
_SETTINGS = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never", "protocol.ext.allow=never")
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
# Seconds; a pipe by the name of .gitignore lets git wait for ever.
_PATIENCE = 60.0


def git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes] | None":
    """What git says in a folder; None where there is no git, or it does not come to an end."""
    import subprocess  # the half of what a run needs to be loaded that never asks git

    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    command = ["git", *settings, "-C", os.fspath(folder), *arguments]
    environment = {**os.environ, **_ENVIRONMENT}
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environment, timeout=_PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
