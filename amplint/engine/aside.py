"""LibCST in a process of its own, which loads it while the first process checks; knows nothing of what is read.

Loading LibCST takes half as long as checking one file, and only files with findings need it.
"""

import importlib
import os
import signal
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from amplint.engine.processes import processors

if TYPE_CHECKING:
    from amplint.model.tree import Module


class Aside:
    """A process that lowers texts with LibCST. Where it cannot be had, this one does it, with the same result."""

    def __init__(self) -> None:
        self._child = 0
        self._requests: BinaryIO | None = None
        self._answers: BinaryIO | None = None
        self._is_tried = False
        self._is_gone = False

    def start(self) -> None:
        """Start the process where there is a processor for it."""
        self._is_tried = True
        if not hasattr(os, "fork") or processors() < 2:
            return
        importlib.import_module("amplint.syntax.parse")  # both processes need it
        to_child, from_parent = os.pipe()
        to_parent, from_child = os.pipe()
        try:
            self._child = os.fork()
        except OSError:  # no more processes here
            for handle in (to_child, from_parent, to_parent, from_child):
                os.close(handle)
            return
        if self._child:
            os.close(to_child)
            os.close(from_child)
            self._requests, self._answers = os.fdopen(from_parent, "wb"), os.fdopen(to_parent, "rb")
            return
        try:
            os.close(from_parent)
            os.close(to_parent)
            with os.fdopen(to_child, "rb") as requests, os.fdopen(from_child, "wb") as answers:
                _serve(requests, answers)
        finally:
            os._exit(0)

    def lowered(self, text: str) -> "Module | None":
        """LibCST's tree of a text, None where it takes it for no program."""
        if not self._is_tried:
            self.start()
        if self._requests is not None and self._answers is not None and not self._is_gone:
            import pickle

            try:
                pickle.dump(text, self._requests)
                self._requests.flush()
                answer: Module | None = pickle.load(self._answers)
                return answer
            except (OSError, EOFError, pickle.UnpicklingError):  # it was killed, say for its memory
                self._is_gone = True
        return _lowered(text)

    def __enter__(self) -> "Aside":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._requests, self._answers):
            if stream is not None:
                with suppress(OSError):  # what it was asked last may not have reached it
                    stream.close()
        if self._child:
            # It may still be loading what nobody needs any more.
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import pickle

    from amplint.syntax.lean import load_lean

    load_lean()
    while True:
        try:
            text = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(_lowered(text), answers)
        answers.flush()


def _lowered(text: str) -> "Module | None":
    from amplint.syntax.parse import lowered_by_libcst

    return lowered_by_libcst(text)
