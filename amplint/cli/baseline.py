"""`amplint baseline`: keeps the findings of an old tree in a file, and drops from it what was mended."""

import argparse
import os
import sys
from pathlib import Path

from amplint.cli.main import CLEAN, FAILED, say
from amplint.cli.outputs import check_place
from amplint.cli.parser import add_options, given_values
from amplint.config.load import Resolved, Resolver
from amplint.config.usage import UsageError
from amplint.engine.narrow import baseline_file
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run as run_tree
from amplint.report import baseline
from amplint.report.report import Report

_FLAGS = frozenset(
    {"config", "isolated", "baseline", "select", "extend_select", "ignore", "exclude", "extend_exclude", "target_torch"}
    | {"respect_gitignore", "force_exclude"}
)


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `baseline` and what can be done with it."""
    parser = commands.add_parser("baseline", help="adopt amplint on an old tree")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("write", "write down all findings of these files as known"),
        ("prune", "drop from the baseline what no longer occurs"),
    ):
        usage = f"amplint baseline {name} [FLAGS] [PATHS ...]"
        action = actions.add_parser(name, help=text, usage=usage, description=f"{text.capitalize()}.")
        action.add_argument("paths", nargs="*", metavar="PATHS", help="files and folders (default: .)")
        add_options(action, names=_FLAGS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write or prune the baseline. Raises UsageError."""
    cwd = Path.cwd()
    resolver = Resolver(given_values(options), cwd)
    file = _writable(baseline_file(resolver.top()), resolver.top())
    report = run_tree(options.paths or ["."], resolver, cwd, Wanted()).report
    for problem in report.problems:
        say(f"amplint: {problem.path}: {problem.message}")
    if report.problems and not report.checked:  # nothing is known, say for a slip in a path
        return FAILED
    shown = file.relative_to(cwd) if file.is_relative_to(cwd) else file
    said = _written(file, report) if options.action == "write" else _pruned(file, report)
    print(f"{shown}: {said}", file=sys.stderr)
    if options.action == "write" and not resolver.top().settings.baseline:
        print(f'Set `baseline = "{shown.as_posix()}"` in the configuration to use it.', file=sys.stderr)
    return FAILED if any(problem.is_fatal for problem in report.problems) else CLEAN


def _writable(file: Path, top: Resolved) -> Path:
    """The baseline's place.

    Raises UsageError where something else stands there, and where a configuration, which a stranger may have written,
    leads away.
    """
    check_place(file)
    own = Path(os.path.realpath(top.root))
    if top.origins.get("baseline") not in (None, "command line") and not Path(os.path.realpath(file)).is_relative_to(
        own
    ):
        raise UsageError(
            f"{top.origin('baseline')}the baseline {file} lies elsewhere; name it with --baseline to write it"
        )
    return file


def _written(file: Path, report: Report) -> str:
    """Write down what was found; what is known of files that were not looked at stays."""
    new = baseline.of_report(report, file.parent)
    try:
        others = baseline.elsewhere(baseline.read(file), report, file.parent)
    except UsageError:  # there is none yet, or none that can be read: this one takes its place
        if file.exists() and file.suffix != ".json":  # it may be something else
            raise
        others = baseline.Baseline()
    baseline.write(file, baseline.Baseline(new.counts + others.counts))
    elsewhere = f" ({others.counts.total()} more in files not looked at)" if others.counts else ""
    return f"{_findings(new.counts.total())} known now{elsewhere}."


def _pruned(file: Path, report: Report) -> str:
    old = baseline.read(file)
    new = baseline.pruned(old, report, file.parent)
    baseline.write(file, new)
    return f"{_findings(old.counts.total() - new.counts.total())} dropped, {new.counts.total()} still known."


def _findings(number: int) -> str:
    return f"{number} finding{'' if number == 1 else 's'}"
