"""A process that has imported torch and forks one child for each run, so that the import is paid for once.

Reads the path of a job file a line, answers the child's process number and, later, its status; ends the child where
nobody is there any more to hear of it. Refuses to touch CUDA: a process that has used it cannot fork.
"""

import atexit
import contextlib
import os
import re
import select
import shutil
import signal
import sys
import threading
from pathlib import Path

from amplint.runtime.guest import run_job
from amplint.runtime.job import Job, job_from_json
from amplint.runtime.overlay import VARIABLE

OLDEST_TORCH = (2, 3)
OUTPUT_FILE = "output.txt"
OVERLAY_FILE = "overlay.json"


def main() -> int:
    """Serve jobs until the input ends."""
    # The answers keep their own descriptor: children write to descriptor 1 what their programs print.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        _warm()
    except (ImportError, OSError, AttributeError, RuntimeError) as error:  # a broken installation fails in many ways
        answers.write(f"{' '.join(str(error).split())}\n")
        answers.close()
        return 1
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        job = job_from_json(Path(line.strip()).read_text(encoding="utf-8"))
        child = os.fork()
        if child == 0:
            _leave(_be_child(job))
        answers.write(f"{child}\n")
        answers.flush()
        status = _status_of(child)
        if status is None:
            shutil.rmtree(Path(job.folder).parent, ignore_errors=True)
            return 1
        answers.write(f"{status}\n")
        answers.flush()
    return 0


def _status_of(child: int) -> int | None:
    """Wait for a child. None, and the child and all it started are ended, where the input ends first.

    Nothing else comes while a child runs: the one who asked is gone, whatever became of it.
    """
    pause = 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if select.select([0], [], [], pause)[0]:
            break
        pause = min(pause * 2, 0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # it may not lead a group of its own yet
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _warm() -> None:
    import torch

    found = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if found and (int(found[1]), int(found[2])) < OLDEST_TORCH:
        raise ImportError(f"torch {torch.__version__} is older than {'.'.join(map(str, OLDEST_TORCH))}")
    import torch._dynamo  # the first optimizer of a program imports it
    import torch.distributed
    import torch.optim
    import torch.utils.data

    # Threads do not survive a fork; the pool is made in each child.
    torch.set_num_threads(1)


def _be_child(job: Job) -> int:
    os.setsid()
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if job.is_output_shown:
        os.dup2(2, 1)
    else:
        with (Path(job.folder) / OUTPUT_FILE).open("w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
    if job.overlay:
        os.environ[VARIABLE] = str(Path(job.folder) / OVERLAY_FILE)
    return run_job(job)


def _leave(status: int) -> None:
    """End the child as the interpreter would, but without going back into the parent's stack."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    raise SystemExit(main())
