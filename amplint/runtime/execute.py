"""Runs the user's program as `__main__` in this process and says how it ended.

Knows the interpreter's rules for scripts and modules; knows nothing of torch.
"""

import builtins
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import CodeType, ModuleType
from typing import Any

from amplint.runtime.job import Program
from amplint.runtime.overlay import Overlay
from amplint.runtime.trace import Ending, Outcome


class ProgramError(Exception):
    """The program cannot be started: it does not exist or does not compile."""


def execute(program: Program, overlay: Overlay, stop: type[BaseException]) -> Outcome:
    """Run the program to its end. `stop` is the exception by which the recorder ends it."""
    forks = _count_processes()
    try:
        code, module = _main_module(program, overlay)
    except ProgramError as error:
        return Outcome(Ending.NOT_STARTED, 2, type(error).__name__, f"{error}\n")
    except SyntaxError as error:
        return Outcome(Ending.NOT_STARTED, 2, type(error).__name__, "".join(traceback.format_exception_only(error)))
    sys.modules["__main__"] = module
    sys.path[0:0] = [program.search_path]
    sys.argv[:] = [module.__file__ or program.target, *program.arguments]
    try:
        exec(code, module.__dict__)
    except stop:
        return Outcome(Ending.STOPPED, forks=forks())
    except SystemExit as error:
        return Outcome(Ending.EXITED, _status(error), error=_reason(error), forks=forks())
    except BaseException as error:  # the user's program may raise anything
        asked = isinstance(error, EOFError) and _reads_input(error)
        ending = Ending.NEEDED_INPUT if asked else Ending.RAISED
        return Outcome(ending, 1, _headline(error), _own_traceback(error), forks())
    return Outcome(Ending.FINISHED, forks=forks())


def _main_module(program: Program, overlay: Overlay) -> tuple[CodeType, ModuleType]:
    """A new `__main__`, as the interpreter would set it up; workers that are spawned find the script through it."""
    module = ModuleType("__main__")
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    if program.is_module:
        sys.path[0:0] = [program.search_path]
        try:
            _, spec, code = runpy._get_module_details(program.target)  # type: ignore[attr-defined]
        except ImportError as error:
            raise ProgramError(str(error)) from error
        finally:
            sys.path.pop(0)
        module.__spec__, module.__package__ = spec, spec.parent
        module.__file__, module.__loader__ = spec.origin, spec.loader
        return code, module
    path = program.target
    module.__file__ = path
    code = overlay.code_of(path)
    if code is None:
        try:
            with open(path, "rb") as stream:
                code = compile(stream.read(), path, "exec", dont_inherit=True)
        except OSError as error:
            raise ProgramError(f"cannot read {path}: {error.strerror}") from error
    return code, module


def _count_processes() -> Callable[[], int]:
    """How many processes the program started by itself; workers of torch's loaders are not counted."""
    original: Any = os.fork
    start: Any = BaseProcess.start
    counted = 0

    def fork() -> int:
        nonlocal counted
        if "multiprocessing" not in sys._getframe(1).f_code.co_filename:
            counted += 1
        child: int = original()
        return child

    def start_process(process: Any) -> Any:
        nonlocal counted
        if f"utils{os.sep}data" not in sys._getframe(1).f_code.co_filename:
            counted += 1
        return start(process)

    os.fork = fork
    BaseProcess.start = start_process  # type: ignore[method-assign,assignment]
    return lambda: counted


def _status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    return error.code if isinstance(error.code, int) else 1


def _reason(error: SystemExit) -> str:
    return error.code if isinstance(error.code, str) else ""


def _reads_input(error: BaseException) -> bool:
    """Whether the end of input was met: the run's standard input is empty."""
    return "EOF when reading" in str(error)


def _headline(error: BaseException) -> str:
    """The exception in one line: the first one of its text or, where that says nothing, the last one."""
    lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
    says_nothing = len(lines) > 1 and lines[0].endswith(": ")
    return f"{lines[0]}{lines[-1]}" if says_nothing else lines[0]


def _own_traceback(error: BaseException) -> str:
    """The traceback from the program's first frame on: the tool's frames in front and among them say nothing."""
    here = os.path.dirname(os.path.abspath(__file__)) + os.sep
    summary = traceback.TracebackException.from_exception(error)
    parts: list[traceback.TracebackException | None] = [summary]
    while parts:
        part = parts.pop()
        if part is None:
            continue
        kept = [frame for frame in part.stack if not os.path.abspath(frame.filename).startswith(here)]
        part.stack = traceback.StackSummary.from_list(kept)
        parts.extend((part.__cause__, part.__context__))
    return "".join(summary.format())
