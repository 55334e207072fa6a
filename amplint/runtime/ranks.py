"""Runs a program in several processes under torchrun, and compares what the processes did."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from amplint.runtime.drive import Driver, Run, completed, end_group, environment, write_job
from amplint.runtime.guest import trace_path
from amplint.runtime.job import Job
from amplint.runtime.nursery import OUTPUT_FILE, OVERLAY_FILE
from amplint.runtime.overlay import VARIABLE
from amplint.runtime.sighting import Sighting
from amplint.runtime.site import NOWHERE
from amplint.runtime.trace import Trace, read_trace


def run_ranks(driver: Driver, job: Job, count: int) -> list[Run]:
    """One run a rank. The processes are fresh ones, started by `torch.distributed.run`, each with the overlay."""
    job = replace(job, folder=driver.fresh_folder("ranks"))
    folder = Path(job.folder)
    job_file = write_job(job)
    python = [sys.executable, "-P", "-u"]
    command = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    command += ["--no-python", *python, "-m", "amplint.runtime.guest", str(job_file)]
    variables = environment() | {"OMP_NUM_THREADS": str(job.threads)}
    if job.overlay:
        variables[VARIABLE] = str(folder / OVERLAY_FILE)
    started = time.monotonic()
    with (folder / OUTPUT_FILE).open("wb") as output:
        shown = None if job.is_output_shown else output
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr if job.is_output_shown else output,
            stderr=shown,
            env=variables,
            start_new_session=True,
        )
        is_late = False
        try:
            status = process.wait(timeout=driver.time_limit)
        except subprocess.TimeoutExpired:
            is_late, status = True, -9
        end_group(process.pid)
        process.wait()
    seconds = time.monotonic() - started
    text = (folder / OUTPUT_FILE).read_text(errors="replace")
    runs = []
    for rank in range(count):
        trace = read_trace(trace_path(folder, rank))
        trace.outcome = completed(trace.outcome, folder, status, driver.time_limit if is_late else None)
        runs.append(Run(job, trace, text, seconds))
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
    return found[:1]


def _word(is_applied: bool) -> str:
    return "applied" if is_applied else "skipped"
