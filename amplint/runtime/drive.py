"""Starts runs and waits for them: processes, time limits, traces; knows nothing of what the runs show.

This side of the tower imports no torch: the command line stays quick and survives whatever a run does.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from amplint.runtime.guest import stack_path, trace_path
from amplint.runtime.job import Job
from amplint.runtime.nursery import OUTPUT_FILE, OVERLAY_FILE
from amplint.runtime.trace import Ending, Outcome, Trace, read_trace

Progress = Callable[[int], None]
_STEP_LINE = re.compile(rb'^\{"record": "step",.*?"optimizer": (\d+)', re.MULTILINE)
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_GRACE = 2.0
"""Seconds that a run gets to say where it stands before it is ended."""


class RuntimeUnavailableError(Exception):
    """The process that imports torch did not start; the message says why."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its trace, what the program printed (where that was kept), how long it took."""

    job: Job
    trace: Trace
    output: str
    seconds: float
    trace_file: Path


class Driver:
    """Runs jobs one after the other in children of one warmed process, each in a fresh folder.

    keeps_interrupted: an interrupt from the keyboard ends a run as the time limit does, with what it showed until then.
    """

    def __init__(self, time_limit: float, on_step: Progress | None = None, keeps_interrupted: bool = False) -> None:
        self._time_limit = time_limit
        self._on_step = on_step
        self._keeps_interrupted = keeps_interrupted
        self._root = tempfile.TemporaryDirectory(prefix="amplint-")
        self._process: subprocess.Popen[str] | None = None
        self._count = 0
        self._replaced: list[int] = []
        self._received: int | None = None

    def __enter__(self) -> "Driver":
        if threading.current_thread() is threading.main_thread():
            self._replaced = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
            for number in self._replaced:
                signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: object) -> None:
        """Whoever ends this process ends the run first, as an interrupt from the keyboard does."""
        self._received = number
        raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._root.cleanup()
        for number in self._replaced:
            signal.signal(number, signal.SIG_DFL)
        if self._received is not None:
            os.kill(os.getpid(), self._received)

    def fresh_folder(self, name: str) -> str:
        """A new empty folder that goes away with the driver."""
        folder = Path(self._root.name) / f"{self._count}-{name}"
        self._count += 1
        folder.mkdir()
        return str(folder)

    def watch(self, is_over: Callable[[], bool], trace: Path) -> Outcome | None:
        """Wait until a run is over, which is_over asks for a moment; the outcome where the run is to be cut short."""
        counter = StepCounter(trace)
        started = time.monotonic()
        try:
            while not is_over():
                self._show(counter.count())
                if time.monotonic() - started > self._time_limit:
                    return Outcome(Ending.TIMED_OUT, 1, f"ran past the time limit of {self._time_limit:g} s")
        except KeyboardInterrupt:
            if self._keeps_interrupted and self._received is None:
                return Outcome(Ending.INTERRUPTED, 1, "was interrupted")
            raise
        self._show(counter.count())
        return None

    def _show(self, steps: int) -> None:
        """Tell whoever watches how far a run is."""
        if self._on_step is not None:
            self._on_step(steps)

    def run(self, job: Job) -> Run:
        """Run a job to its end or to the time limit. Raises RuntimeUnavailableError where torch cannot be imported."""
        job = replace(job, folder=self.fresh_folder("run"))
        folder = Path(job.folder)
        job_file = write_job(job)
        process = self._warmed()
        orders, reports = process.stdin, process.stdout
        assert orders is not None
        assert reports is not None
        started = time.monotonic()
        orders.write(f"{job_file}\n")
        orders.flush()
        child = int(reports.readline())
        try:
            cut = self.watch(lambda: bool(select.select([reports], [], [], 0.1)[0]), trace_path(folder))
            if cut is not None:
                interrupt([child], _GRACE)
            status = int(reports.readline())
        finally:
            end_group(child)
        trace = read_trace(trace_path(folder))
        trace.outcome = completed(trace.outcome, folder, 0, status, cut)
        output = folder / OUTPUT_FILE
        text = output.read_text(errors="replace") if output.exists() else ""
        return Run(job, trace, text, time.monotonic() - started, trace_path(folder))

    def _warmed(self) -> "subprocess.Popen[str]":
        if self._process is None:
            command = [sys.executable, "-P", "-m", "amplint.runtime.nursery"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(),
                start_new_session=True,  # an interrupt from the keyboard is this process's to pass on
            )
            assert self._process.stdout is not None
            said = self._process.stdout.readline().strip()
            if said != "ready":
                said = said or "its import ended the interpreter"
                raise RuntimeUnavailableError(
                    f"torch 2.3 or later is needed here ({said}): "
                    f'"{sys.executable}" -m pip install --upgrade "amplint[torch]"'
                )
        return self._process


def write_job(job: Job) -> Path:
    """Put a job and its overlay where the process that runs it will look."""
    folder = Path(job.folder)
    if job.overlay:
        (folder / OVERLAY_FILE).write_text(json.dumps(job.overlay), encoding="utf-8")
    path = folder / "job.json"
    path.write_text(job.to_json(), encoding="utf-8")
    return path


def environment() -> dict[str, str]:
    """The environment of every process of a run: repeatable, and reached by the bootstrap."""
    package = Path(__file__).resolve().parents[2]
    inherited = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    entries = [str(Path(__file__).parent / "bootstrap"), *inherited]
    if package.name != "site-packages":
        entries.append(str(package))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(entries),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Without it the question whether there is a GPU would make the warmed process unfit for forking.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }


def interrupt(children: list[int], grace: float) -> None:
    """Let the processes of a run write where they stand, then end them and all they started."""
    for signal_number in (signal.SIGUSR1, signal.SIGTERM):
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal_number)
        time.sleep(0.2)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(Path(f"/proc/{child}").exists() for child in children):
        time.sleep(0.05)
    for child in children:
        end_group(child)


def end_group(leader: int) -> None:
    """End what a run left behind: workers and children of its own process group."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def completed(outcome: Outcome, folder: Path, rank: int, status: int, cut: Outcome | None) -> Outcome:
    """The outcome as seen from outside, for a run that was cut short or could not write its own."""
    if cut is not None:
        stack = stack_path(folder, rank)
        return replace(cut, traceback=_own_frames(stack.read_text(errors="replace")) if stack.exists() else "")
    if outcome.ending is Ending.VANISHED:
        by = f"killed by signal {-status}" if status < 0 else f"status {status}, without Python's own exit"
        return replace(outcome, status=status, error=by)
    return outcome


def _own_frames(stack: str) -> str:
    """A stack, newest frame first, without the frames of the tool and what started it."""
    own = f"{os.sep}amplint{os.sep}runtime{os.sep}"
    lines = stack.splitlines()
    start = next((number for number, line in enumerate(lines) if f"{own}execute.py" in line), len(lines))
    return "\n".join(line for line in lines[:start] if own not in line)


class StepCounter:
    """Counts the steps in a trace that is still being written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._steps: Counter[bytes] = Counter()

    def count(self) -> int:
        """Steps so far, of the optimizer that made the most."""
        if self._path.exists():
            with self._path.open("rb") as stream:
                stream.seek(self._offset)
                data = stream.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._offset += len(whole)
            self._steps.update(_STEP_LINE.findall(whole))
        return max(self._steps.values(), default=0)
