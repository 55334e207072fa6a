"""From arguments to an exit code: picks the command, and turns every way to end into its number.

Knows the commands by name only, and imports the one that is wanted.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from amplint import __version__

CLEAN, FOUND, FAILED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
COMMANDS = {
    "check": "find misuse of automatic mixed precision, and fix it",
    "rule": "explain a rule",
    "config": "show what would be used here, and which file set it",
    "baseline": "adopt amplint on an old tree",
    "run": "run a script and report the misuse that it does",
    "verify": "run a script with and without its fixes, and judge them",
    "lsp": "serve an editor",
    "debug": "show what amplint makes of a file (for contributors)",
}


def enter() -> None:
    """The command line as a process of its own.

    Everything is written when it ends, so the process ends there. To take its modules and trees apart first, as Python
    does, takes a sixth of a check of one file.
    """
    import atexit

    code = main()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads, or it is closed
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    from amplint.config.usage import UsageError

    _make_streams_robust()
    try:
        return _dispatch(given)
    except UsageError as error:
        say(f"amplint: {error}")
        return FAILED
    except _TerminatedError:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _write_no_more()
        return FOUND
    except OSError as error:
        _write_no_more()
        say(f"amplint: cannot go on: {error}")
        return FAILED
    except Exception as error:
        _confess(error)
        return FAILED


def say(text: str) -> None:
    """A line on standard error, what is not printable in it made visible: names of files may hold anything."""
    from amplint.report.visible import visible

    with suppress(OSError):  # nobody is there to be told
        print(visible(text), file=sys.stderr)


def _confess(error: Exception) -> None:
    """Say of a fault of amplint's own what to report."""
    from amplint.config.fault import VARIABLE, is_traced, told

    _write_no_more()
    if is_traced():
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line)
    more = "" if is_traced() else f", with what {VARIABLE}=1 shows"
    say(f"amplint: {told(error)}; please report it{more}")


class _TerminatedError(BaseException):
    """The system asks the process to end."""


def _end_tidily() -> None:
    """Have a request to end unwind as an interrupt does, so that no half-made temporary file is left."""
    import signal

    def end(number: int, frame: object) -> None:
        raise _TerminatedError

    with suppress(ValueError):  # only the main thread of a program hears signals
        signal.signal(signal.SIGTERM, end)


def _write_no_more() -> None:
    """Standard output cannot be written; the interpreter must not complain when it flushes at its end."""
    with suppress(OSError):  # it may be no file, where a program calls this one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(given: list[str]) -> int:
    if given in (["--version"], ["-V"]):
        print(f"amplint {__version__}")
        code = CLEAN
    else:
        from amplint.cli.parser import parse

        _collect_rarely()
        _end_tidily()
        options = parse(given)
        code = int(options.run(options))
    sys.stdout.flush()
    return code


def _collect_rarely() -> None:
    """Trees are many objects, and nothing here holds itself: looking for cycles as Python does costs a fifth."""
    import gc

    gc.set_threshold(1_000_000, 20, 50)


def _make_streams_robust() -> None:
    """File names need not be text, and the terminal's encoding need not hold the source's characters."""
    # Whoever starts a program may close its streams.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
