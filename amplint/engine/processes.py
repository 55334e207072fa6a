"""Whether work is spread over processes, and how; knows nothing of the work."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_WORTH_IT = 8


def processors() -> int:
    """How many processors this process may use, which in a container are not all that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """A pool for a number of files, or no pool where they are too few. Forked, so that nothing is imported twice."""

    def __init__(self, wanted: int | None, files: int) -> None:
        available = wanted or processors()
        is_worth_it = available > 1 and (files > _WORTH_IT if wanted is None else files > 1)
        self.count = min(available, files) if is_worth_it else 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Processes":
        if self.count > 1:
            # Loaded before forking: every process then has the parser, and the code that the work needs.
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            context = get_context("fork" if os.name == "posix" else "spawn")
            self._pool = ProcessPoolExecutor(self.count, mp_context=context, initializer=_die_silently)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        if kind is not None:
            from multiprocessing import active_children

            for child in active_children():
                child.terminate()
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def each(self, task: str, setup: Any, project: Any, parts: Sequence[Any], wanted: Any) -> list[Any]:
        """What a function of the work module gives for each part, joined in the order of the parts."""
        from amplint.engine import work

        function = getattr(work, task)
        if self._pool is not None and len(parts) > 1:
            from concurrent.futures.process import BrokenProcessPool

            try:
                results = [self._pool.submit(function, setup, project, part, wanted) for part in parts]
                return [item for result in results for item in result.result()]
            except BrokenProcessPool:  # a process was killed, say for its memory; alone the work may still fit
                self._pool = None
        return [item for part in parts for item in function(setup, project, part, wanted)]


def _die_silently() -> None:
    """Let an interrupt end this process at once; what there is to say about it, the first process says."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
