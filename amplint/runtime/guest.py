"""The process in which the user's program runs: seeds, hooks, the program, the trace.

Knows how the parts of a recording fit together; knows nothing of who asked for it and why.
"""

import faulthandler
import os
import random
import signal
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplint.runtime.execute import execute
from amplint.runtime.job import Detail, Job, Kept, ScalerTreatment, job_from_json
from amplint.runtime.overlay import overlay_from_environment
from amplint.runtime.probes import Probes
from amplint.runtime.sanitizer import Sanitizer
from amplint.runtime.site import NOWHERE, is_user_file
from amplint.runtime.trace import FORMAT, Kind, TraceWriter


def trace_path(folder: Path, rank: int = 0) -> Path:
    """Where a rank of a run writes its trace."""
    return folder / f"trace-{rank}.jsonl"


def stack_path(folder: Path, rank: int = 0) -> Path:
    """Where a rank says where it stands when it is asked."""
    return folder / f"stack-{rank}.txt"


def run_job(job: Job) -> int:
    """Run a job in this process, which is its own for the purpose. Returns the status to exit with."""
    rank = int(os.environ.get("RANK", "0"))
    job = replace(job, device=_device(job.device))
    os.chdir(job.directory)
    folder = Path(job.folder)
    (folder / f"process-{rank}").write_text(str(os.getpid()))
    stack = stack_path(folder, rank).open("w")
    # The one who waits sends this signal before it ends a run that takes too long.
    faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
    with trace_path(folder, rank).open("w", encoding="utf-8") as stream:
        writer = TraceWriter(stream)
        started = time.perf_counter()
        probes = Probes(job.probes)
        probes.install()
        overlay = overlay_from_environment(probes.compile if job.probes else None)
        if "_amplint_overlay" not in sys.modules:  # else the interpreter started with it
            overlay.install()
        sys.dont_write_bytecode = True
        session = _Session(job, writer)
        session.start(rank)
        with session.counting():
            outcome = execute(job.program, overlay, session.stop)
        session.finish({"seconds": time.perf_counter() - started, "files": _user_files()} | probes.summary())
        writer.outcome(outcome)
    sys.stdout.flush()
    sys.stderr.flush()
    return outcome.status


class _Session:
    """Hooks of one run, put on in the order in which they must lie around torch's functions."""

    def __init__(self, job: Job, writer: TraceWriter) -> None:
        from amplint.runtime.record import EnoughStepsError, Recorder

        self.stop = EnoughStepsError
        self._job = job
        self._writer = writer
        self._recorder = Recorder(job)
        self._finishers: list[Any] = []

    def start(self, rank: int) -> None:
        """Seed, treat, retarget, and hook as far as the job asks for it."""
        from amplint.runtime.hide import keep_out_of_sight
        from amplint.runtime.patch import Patches
        from amplint.runtime.spawn import keep_the_only_process_here
        from amplint.runtime.treat import apply_treatment

        job, patches = self._job, Patches()
        _make_repeatable(job)
        keep_out_of_sight(patches)
        keep_the_only_process_here(patches)
        self._writer.write("start", _start_record(job, rank), is_flushed=True)
        if job.device == "cpu":
            from amplint.runtime.retarget import Retarget

            retarget = Retarget()
            retarget.install(patches)
            self._finishers.append(lambda: {"retargeted": retarget.notes()})
        apply_treatment(job.treatment, patches)
        if job.is_half_refused and not job.treatment.is_autocast_on:
            from amplint.runtime.whole import refuse_half

            refuse_half(patches)
        if job.detail is not Detail.NOTHING:
            self._hook(patches)

    def _hook(self, patches: Any) -> None:
        from amplint.runtime.record import is_autocast_on
        from amplint.runtime.watch_autocast import AutocastHooks
        from amplint.runtime.watch_autograd import AutogradHooks
        from amplint.runtime.watch_gradients import GradientHooks
        from amplint.runtime.watch_mixing import MixingHooks
        from amplint.runtime.watch_optimizer import OptimizerHooks
        from amplint.runtime.watch_scaler import ScalerHooks

        recorder, writer = self._recorder, self._writer
        mixing = MixingHooks()
        scalers = ScalerHooks(recorder, mixing)
        OptimizerHooks(recorder).install(patches)
        recorder.step_listeners.append(writer.step)
        self._finishers.append(lambda: {"sizes": recorder.sizes})
        scalers.install(patches)
        if self._job.detail is Detail.PACE:
            return
        AutogradHooks(recorder, mixing).install(patches)
        AutocastHooks(recorder).install(patches)
        GradientHooks(recorder, scalers).install(patches)
        if self._job.kept is not Kept.NOTHING:
            recorder.listen(dict.fromkeys(Kind, writer.event if self._job.kept is Kept.EVERYTHING else writer.place))
        if self._job.treatment.is_autocast_on and self._job.treatment.scaler is ScalerTreatment.OWN:
            for handlers in Sanitizer(writer.sighting).handlers():
                recorder.listen(handlers)
        self._finishers.append(lambda: self._end(is_autocast_on()))

    def counting(self) -> AbstractContextManager[Any]:
        """What has to lie around the whole program: the count of operations, where it is wanted."""
        from amplint.runtime.watch_dtypes import DtypeCounter

        return DtypeCounter(self._recorder) if self._job.detail is Detail.OPERATIONS else nullcontext()

    def _end(self, is_on: bool) -> dict[str, Any]:
        last = self._recorder.last_looks
        last.finish()
        self._recorder.emit(Kind.END, NOWHERE, is_autocast_on=is_on, bad_steps=last.bad_steps)
        return {"parameters": last.hashes} if last.hashes else {}

    def finish(self, summary: dict[str, Any]) -> None:
        """Write what is known only at the end."""
        for finisher in self._finishers:
            summary |= finisher()
        self._writer.write("summary", summary, is_flushed=True)


def _device(wanted: str) -> str:
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def _user_files() -> list[str]:
    """The Python files of the user that the program loaded, the program itself first."""
    found = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    main = getattr(sys.modules["__main__"], "__file__", None)
    files = [os.path.abspath(path) for path in (main, *found) if isinstance(path, str) and path.endswith(".py")]
    return [path for path in dict.fromkeys(files) if is_user_file(path)]


def _make_repeatable(job: Job) -> None:
    import torch

    random.seed(job.seed)
    torch.manual_seed(job.seed)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(job.seed)
    torch.set_num_threads(job.threads)
    # The public function imports the inductor compiler, which takes longer than most runs. Only warn where an operation
    # has no repeatable form: the program would raise here what it does not raise by itself.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False


def _start_record(job: Job, rank: int) -> dict[str, Any]:
    import torch

    return {
        "format": FORMAT,
        "program": job.program.title,
        "arguments": list(job.program.arguments),
        "treatment": job.treatment.name,
        "device": job.device,
        "rank": rank,
        "seed": job.seed,
        "threads": job.threads,
        "torch": torch.__version__,
    }


def main() -> int:
    """Run the job that the file named by the first argument holds (`torchrun` starts each rank so)."""
    return run_job(job_from_json(Path(sys.argv[1]).read_text(encoding="utf-8")))


if __name__ == "__main__":
    raise SystemExit(main())
