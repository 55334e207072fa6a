"""`amplint verify`: runs a program with and without its fixes, and says of each whether it does what it claims."""

import argparse
from pathlib import Path

from amplint.cli.main import CLEAN, FAILED, FOUND
from amplint.cli.outputs import check_place
from amplint.cli.parser import add_options, given_values
from amplint.cli.program import ALL_ENDED, add_program_arguments, explain, program_of, say
from amplint.cli.run import RULES
from amplint.cli.steps import StepsLine
from amplint.cli.variants import Fixed, fixed_variants
from amplint.cli.verdicts import as_json, as_text
from amplint.config.load import Resolver
from amplint.config.usage import UsageError
from amplint.report.report import Report
from amplint.runtime.drive import Driver, RuntimeUnavailableError
from amplint.runtime.experiment import AFTER, Case, Experiment, conduct
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.page import draw_page
from amplint.runtime.workshop import Conditions

OPTIONS = RULES | {"unsafe_fixes", "migrations_only", "config", "isolated", "target_torch", "quiet"}


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `verify` and its flags."""
    parser = commands.add_parser(
        "verify",
        help="run a script with and without its fixes, and judge them",
        usage="amplint verify [--no-fix] [--unsafe-fixes] [--steps N] [--device D] [--nproc N] [--report FILE.html] "
        "SCRIPT | -m MODULE [-- ARGS]",
        description="Runs a training program before and after its fixes, under treatments that a correct one cannot "
        "notice, and judges each fix by what its rule promises. Nothing is written into your files. "
        "amplint's own flags come before the program; what follows it belongs to the program.",
    )
    parser.add_argument("--no-fix", action="store_true", help="judge the program as it is")
    parser.add_argument("--allow-unexercised", action="store_true", help="accept fixes of code that did not run")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with curves, diff and verdicts")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.add_argument("--no-worth", action="store_true", help="leave out the comparison with float32")
    add_options(parser, names=OPTIONS)
    add_program_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Verify, report, and return the exit code. Raises UsageError."""
    check_place(options.report)
    program = program_of(options)
    conditions = Conditions(
        program=program,
        device=options.device,
        steps=options.steps,
        seed=options.seed,
        threads=options.threads,
        processes=options.nproc,
    )
    try:
        display = StepsLine(options.steps, is_wanted=not options.quiet)
        with Driver(options.time_limit, display.show) as driver:
            lab = Laboratory(driver, conditions, display.begin)
            try:
                fixed, result = _experiment(lab, options)
            finally:
                display.clear()
            runs = lab.runs()
            print(as_json(fixed, result, runs) if options.output_format == "json" else as_text(fixed, result, runs))
            if options.report is not None:
                _write(options.report, draw_page(program.title, _texts(fixed), result, runs))
    except RuntimeUnavailableError as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        say(ALL_ENDED)
        raise
    for line in explain(result.after.outcome, result.after):
        say(line)
    if not result.is_runnable:
        return FAILED
    is_good = result.is_good(allows_unexercised=options.allow_unexercised) and not fixed.left
    return CLEAN if is_good else FOUND


def _experiment(lab: Laboratory, options: argparse.Namespace) -> tuple[Fixed, Experiment]:
    cwd = Path.cwd()
    if options.no_fix:
        return Fixed(Report(folder=cwd)), conduct(lab, [], lab.original, wants_worth=not options.no_worth)
    files = lab.trace(lab.original).summary.get("files", [])
    resolver = Resolver(given_values(options), cwd)
    fixed = fixed_variants(files, resolver, cwd, allows_unsafe=bool(options.unsafe_fixes))
    if not fixed.changes:
        return fixed, conduct(lab, [], lab.original, wants_worth=not options.no_worth)
    lab.add(AFTER, fixed.after)
    cases = []
    for number, change in enumerate(fixed.changes):
        without = lab.original
        if fixed.without and len(fixed.changes) > 1:
            without = f"without fix {number + 1} ({change.code}, line {change.line})"
            lab.add(without, fixed.without[number])
        cases.append(Case(change, without))
    return fixed, conduct(lab, cases, AFTER, wants_worth=not options.no_worth)


def _texts(fixed: Fixed) -> list[tuple[str, str, str]]:
    """For each file that the fixes change: its path, its text before and after."""
    return [(path, Path(path).read_text(encoding="utf-8"), text) for path, text in fixed.after.items()]


def _write(place: Path, page: str) -> None:
    try:
        place.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{place}: cannot be written: {error.strerror}") from error
