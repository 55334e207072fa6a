"""`amplint check`: checks files and reports, fixes or shows what would be fixed."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.cli.main import CLEAN, COMMANDS, FAILED, FOUND, say
from amplint.cli.outputs import parse_outputs, spare_checked, write_all
from amplint.cli.parser import add_options, given_values
from amplint.cli.progress import progress
from amplint.config.load import Resolved, Resolver
from amplint.config.settings import Settings
from amplint.config.torch_version import ASSUMED
from amplint.config.usage import UsageError, did_you_mean
from amplint.engine.outcome import Wanted
from amplint.engine.tree import Run
from amplint.engine.tree import run as run_tree
from amplint.model.finding import Severity
from amplint.report.look import look_of
from amplint.report.report import Report
from amplint.source.discover import MISSING

if TYPE_CHECKING:
    from amplint.engine.narrow import Narrowing

_RANKS = {Severity.ADVICE: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_STDIN = "-"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `check` and its flags."""
    parser = commands.add_parser(
        "check",
        help="find misuse of automatic mixed precision, and fix it",
        usage="amplint [check] [FLAGS] [PATHS ... | -]",
        description="Checks Python files and notebooks for misuse of AMP; with --fix, repairs them.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATHS", help="files, folders, or - for standard input (default: .)"
    )
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, and return the exit code. Raises UsageError."""
    cwd = Path.cwd()
    resolver = Resolver(given_values(options), cwd)
    settings = resolver.top().settings
    origin = resolver.top().origin("output_format")
    outputs = parse_outputs(settings.output_format, settings.output_file, origin)
    _refuse_beside_ignores(options.paths, settings)
    paths, stdin = _input(options.paths, settings)
    if settings.show_files:
        from amplint.cli.config import show_files

        show_files(paths, resolver, cwd)
        return CLEAN
    wanted = Wanted(
        stdin=stdin,
        fixes=settings.fix or settings.diff,
        allows_unsafe=settings.unsafe_fixes,
        migrations_only=settings.migrations_only,
        jobs=_jobs(settings.jobs),
        caches=not settings.no_cache,
        narrowing=_narrowing(resolver.top(), cwd),
    )
    with progress("checking", is_wanted=not settings.quiet):
        done = run_tree(paths, resolver, cwd, wanted)
    report = done.report
    spare_checked(outputs, report)
    if settings.add_ignore:
        return _add_ignores(report, cwd)
    if settings.diff:
        _show_diff(done, settings.color)
    elif settings.fix:
        _write(done, options.paths, cwd, is_stdin=stdin is not None)
        if stdin is not None:
            _print_text(done, stdin)
    if not settings.diff and not (settings.fix and stdin is not None):
        write_all(report, outputs, settings)
    _say(report, settings)
    if settings.diff:
        is_failed = any(problem.is_fatal for problem in report.problems)
        return FAILED if is_failed else FOUND if done.changed and not settings.exit_zero else CLEAN
    return exit_code(report, settings)


def _refuse_beside_ignores(paths: list[str], settings: Settings) -> None:
    """Raise UsageError for what cannot be done together with writing suppressions."""
    beside = {"--fix": settings.fix, "--diff": settings.diff, "-": _STDIN in paths}
    for flag in (flag for flag, is_given in beside.items() if is_given and settings.add_ignore):
        raise UsageError(f"--add-ignore and {flag} cannot be given together; run one after the other, over files")


def _add_ignores(report: Report, cwd: Path) -> int:
    """Write a suppression for every finding; what cannot be written is a problem, and so is what could not be done."""
    from amplint.engine.ignores import with_ignores
    from amplint.engine.write import write_source
    from amplint.source.text import Source

    sources = {path: text for path, text in report.texts.items() if isinstance(text, Source)}
    changed, problems = with_ignores(report.findings, sources)
    report.problems += problems
    for path, after in changed.items():
        problem = write_source(cwd / path, sources[path], after, [cwd])
        if problem is not None:
            report.problems.append(problem)
        else:
            number = sum(finding.path == path for finding in report.findings)
            say(f"{path}: suppressed {number} finding{'s' if number > 1 else ''}")
    _say_problems(report)
    return FAILED if any(problem.is_fatal for problem in report.problems) else CLEAN


def _show_diff(done: Run, color: str) -> None:
    """The changes on standard output: in colour for a person, else the bytes that `patch` takes."""
    from amplint.engine.diff import diff
    from amplint.report.difference import write

    look = look_of(sys.stdout, color, os.environ)
    for _, before, after in done.changed:
        changes = diff(before, after)
        if look.is_colored or look.width is not None:
            write(changes.decode(before.encoding, errors="replace"), sys.stdout, look)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(changes)


def _write(done: Run, paths: list[str], cwd: Path, *, is_stdin: bool) -> None:
    """Write what was fixed back to its files; what cannot be written is a problem."""
    if not done.changed or is_stdin:
        return
    from amplint.engine.write import write_source

    # A link that was named itself may not lead out of its folder.
    roots = [cwd, *(place if place.is_dir() else place.parent for place in (cwd / path for path in paths))]
    for path, before, after in done.changed:
        problem = write_source(path, before, after, roots)
        if problem is not None:
            done.report.problems.append(problem)


def _print_text(done: Run, stdin: bytes) -> None:
    """The text from standard input as it is after fixing, on standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(done.changed[0][2].raw if done.changed else stdin)


def _input(paths: list[str], settings: Settings) -> tuple[list[str], bytes | None]:
    """The paths of a run, and the text from standard input where that is what `-` asks for."""
    if _STDIN not in paths:
        return paths or ["."], None
    if len(paths) > 1:
        raise UsageError("- stands for standard input, so no other path can be given beside it")
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return [settings.stdin_filename or "stdin.py"], sys.stdin.buffer.read()


def _narrowing(top: Resolved, cwd: Path) -> "Narrowing | None":
    if not top.settings.baseline and not top.settings.diff_base:
        return None
    from amplint.engine.narrow import narrowing

    return narrowing(top, cwd)


def _jobs(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal() or not int(text):
        raise UsageError(f"--jobs {text!r} is neither `auto` nor a number above 0")
    return int(text)


def _say(report: Report, settings: Settings) -> None:
    """Problems and the summary, on standard error."""
    sys.stdout.flush()
    _say_problems(report)
    if settings.timing:
        from amplint.report.summary import timing

        for line in timing(report):
            say(line)
    if not settings.quiet:
        from amplint.report.summary import summary

        for line in summary(report, target="{}.{}".format(*ASSUMED), is_diff=settings.diff):
            say(line)


def _say_problems(report: Report) -> None:
    for problem in report.problems:
        rule = f" ({problem.rule})" if problem.rule else ""
        # Who asks for `amplint rules` or `amplint help` means no file.
        is_word = problem.message == MISSING and problem.path.isidentifier()
        near = did_you_mean(problem.path, (*COMMANDS, "--help")) if is_word else ""
        say(f"amplint: {problem.path}: {problem.message}{rule}{near}")


def exit_code(report: Report, settings: Settings) -> int:
    """2 where a part of the work could not be done, 1 where findings are left, else 0."""
    if any(problem.is_fatal for problem in report.problems):
        return FAILED
    least = _RANKS[Severity(settings.fail_on)]
    is_found = any(_RANKS[finding.severity] >= least for finding in report.findings)
    if settings.exit_non_zero_on_fix and report.applied:
        return FOUND
    return FOUND if is_found and not settings.exit_zero else CLEAN
