"""Whether work is spread over processes, and how; knows nothing of the work."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
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


def give_back() -> None:
    """Hand freed memory to the system where the C library would keep it, as that of GNU does; others need no word."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class Processes:
    """Processes for a number of files, or none where they are too few. Forked, so that nothing is imported twice."""

    def __init__(self, wanted: int | None, files: int) -> None:
        available = wanted or processors()
        is_worth_it = available > 1 and (files > _WORTH_IT if wanted is None else files > 1)
        self.count = min(available, files) if is_worth_it else 1
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Processes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None and kind is not None:
            from multiprocessing import active_children

            for child in active_children():
                child.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)

    def each(self, task: str, parts: Sequence[Any], *shared: Any) -> list[Any]:
        """What a function of the work module gives for what all parts share and each part, joined in their order.

        New processes do it: they take over what they share as it is, and the memory of those that worked before is full
        of holes, which they do not give back.
        """
        from amplint.engine import work  # before forking: every process then has the code that it needs

        function = partial(getattr(work, task), *shared)
        if self.count > 1 and len(parts) > 1:
            from concurrent.futures.process import BrokenProcessPool

            try:
                return self._spread(function, parts)
            except BrokenProcessPool:  # a process was killed, say for its memory; alone the work may still fit
                self.count = 1
        return [item for part in parts for item in function(part)]

    def _spread(self, function: Callable[[Any], list[Any]], parts: Sequence[Any]) -> list[Any]:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        context = get_context("fork" if os.name == "posix" else "spawn")
        self._pool = ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(function,))
        results = [self._pool.submit(_do, part) for part in parts]
        found = [item for result in results for item in result.result()]
        self._pool.shutdown()
        return found


# What this process was started for: every part is done by it.
_functions: list[Callable[[Any], list[Any]]] = []


def _begin(function: Callable[[Any], list[Any]]) -> None:
    """Let an interrupt end this process at once; what there is to say about it, the first process says."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    _functions[:] = [function]


def _do(part: Any) -> list[Any]:
    return _functions[0](part)
