"""Runs a program in several processes under torchrun, and compares what the processes did."""

import contextlib
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from amplint.runtime.drive import Driver, Run, completed, end_group, environment, interrupt, write_job
from amplint.runtime.guest import trace_path
from amplint.runtime.job import Job
from amplint.runtime.nursery import OUTPUT_FILE, OVERLAY_FILE
from amplint.runtime.overlay import VARIABLE
from amplint.runtime.sighting import Sighting
from amplint.runtime.site import NOWHERE
from amplint.runtime.trace import Ending, Trace, read_trace

_GRACE = 2.0
_OWN_FAILURES = (Ending.RAISED, Ending.EXITED, Ending.NEEDED_INPUT, Ending.NOT_STARTED)


def run_ranks(driver: Driver, job: Job, count: int) -> list[Run]:
    """One run a rank. The processes are fresh ones, started by `torch.distributed.run`, each with the overlay."""
    job = replace(job, folder=driver.fresh_folder("ranks"))
    folder = Path(job.folder)
    started = time.monotonic()
    with (folder / OUTPUT_FILE).open("wb") as output:
        process = subprocess.Popen(
            _command(write_job(job), count),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr if job.is_output_shown else output,
            stderr=None if job.is_output_shown else output,
            env=environment() | _variables(job),
            start_new_session=True,
        )
        try:
            cut = driver.watch(lambda: _is_over(process), trace_path(folder))
            if cut is not None:
                ranks = _processes(folder)
                if len(ranks) == count:
                    end_group(process.pid)  # torchrun would report as a failure how its ranks end
                interrupt(ranks, _GRACE)
        finally:
            if len(_processes(folder)) < count:
                _end_launcher(process)
            for leader in (process.pid, *_processes(folder)):  # torchrun gives each rank a session of its own
                end_group(leader)
        status = process.wait()
    seconds = time.monotonic() - started
    text = (folder / OUTPUT_FILE).read_text(errors="replace")
    runs = []
    for rank in range(count):
        trace = read_trace(trace_path(folder, rank))
        trace.outcome = completed(trace.outcome, folder, rank, status, cut)
        runs.append(Run(job, trace, text, seconds, trace_path(folder, rank)))
    return _explained(runs)


def _end_launcher(process: "subprocess.Popen[bytes]") -> None:
    """Let torchrun, where it still runs, end its ranks: not all have said yet which processes they are."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE)


def _command(job_file: Path, count: int) -> list[str]:
    torchrun = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    return [*torchrun, "--no-python", sys.executable, "-P", "-u", "-m", "amplint.runtime.guest", str(job_file)]


def _variables(job: Job) -> dict[str, str]:
    own = {"OMP_NUM_THREADS": str(job.threads)}
    return own | ({VARIABLE: str(Path(job.folder) / OVERLAY_FILE)} if job.overlay else {})


def _is_over(process: "subprocess.Popen[bytes]") -> bool:
    """Whether all processes ended, or do within a moment."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.1)
    return process.returncode is not None


def _processes(folder: Path) -> list[int]:
    return [int(path.read_text()) for path in folder.glob("process-*")]


def _explained(runs: list[Run]) -> list[Run]:
    """The launcher ends the other ranks when one fails: theirs is not the error to look at."""
    failed = next((rank for rank, run in enumerate(runs) if run.trace.outcome.ending in _OWN_FAILURES), None)
    for run in runs if failed is not None else ():
        if run.trace.outcome.ending is Ending.VANISHED:
            run.trace.outcome = replace(run.trace.outcome, error=f"ended by torchrun, because rank {failed} failed")
    return runs


def disagreements(traces: list[Trace]) -> list[Sighting]:
    """Where the ranks of one run part: a step that one applied and another skipped, or different scales."""
    found: list[Sighting] = []
    for rank, trace in enumerate(traces[1:], 1):
        for number, (one, other) in enumerate(zip(traces[0].steps, trace.steps, strict=False), 1):
            if one.is_applied != other.is_applied:
                message = (
                    f"step {number} was {_word(one.is_applied)} on rank 0 and {_word(other.is_applied)} on rank {rank}"
                )
            elif one.scale is not None and other.scale is not None and one.scale != other.scale:
                message = f"step {number} ran at scale {one.scale:g} on rank 0 and {other.scale:g} on rank {rank}"
            else:
                continue
            site = one.site if one.site != NOWHERE else other.site
            found.append(Sighting("AMP907", message, site))
            break
        else:
            counts = [len(each.steps) for each in (traces[0], trace)]
            if counts[0] != counts[1] and traces[0].outcome.is_clean and trace.outcome.is_clean:
                message = f"rank 0 made {counts[0]} steps and rank {rank} {counts[1]}"
                found.append(Sighting("AMP907", message, (traces[0].steps or trace.steps)[-1].site))
    return found[:1]


def _word(is_applied: bool) -> str:
    return "applied" if is_applied else "skipped"
