"""From arguments to an exit code: picks the command, and turns every way to end into its number.

Knows the commands by name only, and imports the one that is wanted.
"""

import os
import sys
from collections.abc import Sequence

from amplint import __version__

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        print(f"amplint {__version__}")
        return CLEAN
    from amplint.config.usage import UsageError

    _make_streams_robust()
    _collect_rarely()
    try:
        return _dispatch(given)
    except UsageError as error:
        print(f"amplint: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has seen enough; the interpreter must not complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND


def _dispatch(given: list[str]) -> int:
    from amplint.cli.parser import parse

    options = parse(given)
    code = options.run(options)
    sys.stdout.flush()
    return int(code)


def _collect_rarely() -> None:
    """Trees are many objects and little garbage: looking for cycles among them as Python does costs a fifth."""
    import gc

    gc.set_threshold(100_000, 20, 50)


def _make_streams_robust() -> None:
    """File names need not be text, and the terminal's encoding need not hold the source's characters."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
