"""A line on a person's terminal that says that a long run is still going on; nobody else sees it."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_PATIENCE = 2.0


@contextmanager
def progress(what: str, *, is_wanted: bool) -> Iterator[None]:
    """Show what is being done and for how long, once a second, from two seconds on.

    A timer's signal writes the line: a thread would have to be forked with the processes that do the work.
    """
    if not (is_wanted and sys.stderr.isatty() and hasattr(signal, "setitimer")):
        yield
        return
    start = time.monotonic()
    shown = ""

    def show(number: int, frame: FrameType | None) -> None:
        nonlocal shown
        shown = f"amplint: {what} … {time.monotonic() - start:.0f} s"
        sys.stderr.write(f"\r{shown}")
        sys.stderr.flush()

    before = signal.signal(signal.SIGALRM, show)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if shown:
            sys.stderr.write("\r" + " " * len(shown) + "\r")
            sys.stderr.flush()
