"""What `run` and `verify` share: the program to run from the command line, progress, words for how a run ended."""

import argparse
import os
import sys
from pathlib import Path

from amplint.config.usage import UsageError
from amplint.runtime.job import Program
from amplint.runtime.trace import Ending, Outcome, Trace

TIME_LIMIT = 600.0
ALL_ENDED = "Interrupted: the program was ended, with all that it started."


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a run; the program and its own arguments come last."""
    group = parser.add_argument_group("the run")
    group.add_argument("--steps", type=_positive, metavar="N", help="end the program after N optimizer steps")
    group.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto", help="where to run (default: auto)")
    group.add_argument("--nproc", type=_positive, default=1, metavar="N", help="processes, started by torchrun")
    group.add_argument("--seed", type=_seed, default=0, metavar="N", help="seed of all generators (default: 0)")
    group.add_argument("--threads", type=_positive, default=1, metavar="N", help="threads of a process (default: 1)")
    group.add_argument(
        "--time-limit",
        type=_seconds,
        default=TIME_LIMIT,
        metavar="SECONDS",
        help="end a run after so long (default: 600)",
    )
    group.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module, as `python -m` does"
    )
    group.add_argument(
        "script", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGS]", help="the script, and arguments of its own"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _seed(text: str) -> int:
    """A seed that Python, torch and NumPy take alike."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to {2**32 - 1}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def program_of(options: argparse.Namespace) -> Program:
    """The program that was named. Raises UsageError where there is none."""
    is_module = options.module is not None
    words = list(options.module if is_module else options.script)
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        raise UsageError("name a script, or a module with -m")
    target, arguments = words[0], words[1:]
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    cwd = Path.cwd()
    if is_module:
        if target.endswith(".py") or "/" in target:
            raise UsageError(f"-m {target}: a module is named with dots and without .py; a script goes without -m")
        return Program(target, True, tuple(arguments), str(cwd), str(cwd))
    if Path(target).is_dir():
        raise UsageError(f"{target}: a directory; name a script in it, or run a package with -m")
    if Path(target).suffix == ".ipynb":
        raise UsageError(f"{target}: a notebook; write it out as a script first (jupyter nbconvert --to script)")
    if not Path(target).is_file():
        raise UsageError(f"{target}: no such script")
    path = os.path.abspath(target)
    return Program(path, False, tuple(arguments), str(cwd), os.path.dirname(path))


def say(text: str) -> None:
    """A line for the person, on standard error."""
    print(f"amplint: {text}", file=sys.stderr)


def how_it_ended(outcome: Outcome) -> str:
    """One sentence on a program that came to no proper end."""
    error = f": {outcome.error}" if outcome.ending is Ending.EXITED and outcome.error else outcome.error
    return _ENDINGS.get(outcome.ending, outcome.ending).format(status=outcome.status, error=error)


def explain(outcome: Outcome, trace: Trace) -> list[str]:
    """How a run ended, in sentences; nothing where there is nothing to say."""
    steps = len(trace.steps)
    lines: list[str] = []
    if not outcome.is_clean:
        lines.append(how_it_ended(outcome))
        if outcome.traceback:
            lines.append(outcome.traceback.rstrip())
        lines += _advice(outcome, steps)
        if outcome.ending is not Ending.NOT_STARTED:
            lines.append(f"It made {steps} optimizer step{'' if steps == 1 else 's'} before.")
    elif not steps:
        lines.append("The program ended without an optimizer step: there is nothing to judge.")
    if outcome.forks and not steps:
        count = f"{outcome.forks} process{'' if outcome.forks == 1 else 'es'}"
        lines.append(
            f"It started {count} of its own, and only the first one is watched. "
            "Let it train in that one, or let --nproc start its ranks."
        )
    return lines


def _advice(outcome: Outcome, steps: int) -> list[str]:
    """What to do about an ending that people meet before their program trains."""
    if outcome.ending is Ending.RAISED and outcome.error.startswith("ModuleNotFoundError"):
        return [f"It ran in {sys.executable}: install there what it imports, or start amplint where it can train."]
    if outcome.ending is Ending.EXITED and outcome.status == 2 and not steps:
        return ["A program takes its own arguments behind its name: `amplint run SCRIPT ARGS`."]
    return []


_ENDINGS = {
    Ending.RAISED: "The program raised {error}",
    Ending.EXITED: "The program left with exit status {status}{error}",
    Ending.NEEDED_INPUT: "The program asked for input; a run has none to give. Pass what it asks for as arguments.",
    Ending.TIMED_OUT: "The program {error}; it stood here (--time-limit and --steps change when it is ended):",
    Ending.INTERRUPTED: "The program {error}; it stood here:",
    Ending.VANISHED: "The program ended without a word ({error}): os._exit, or something killed it.",
    Ending.NOT_STARTED: "The program could not be started.",
}
