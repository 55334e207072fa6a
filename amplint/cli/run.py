"""`amplint run`: runs a program and reports the misuse of AMP that it does, as a race detector would."""

import argparse
from pathlib import Path

from amplint.cli.main import CLEAN, FAILED, FOUND, INTERRUPTED
from amplint.cli.outputs import check_place, parse_outputs, write_all
from amplint.cli.parser import add_options, given_values
from amplint.cli.program import ALL_ENDED, add_program_arguments, explain, program_of, say
from amplint.cli.sightings import Findings
from amplint.cli.steps import StepsLine
from amplint.config.load import Resolver
from amplint.config.usage import UsageError
from amplint.engine.setup import Setup
from amplint.report.report import Report
from amplint.runtime.drive import Driver, Run, RuntimeUnavailableError
from amplint.runtime.job import Detail, Job, Kept
from amplint.runtime.ranks import disagreements, run_ranks
from amplint.runtime.trace import Ending, Trace

RULES = frozenset({"select", "extend_select", "ignore", "per_file_ignores"})
OPTIONS = RULES | {"output_format", "output_file", "color", "quiet", "exit_zero", "config", "isolated"}


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `run` and its flags."""
    parser = commands.add_parser(
        "run",
        help="run a script and report the misuse that it does",
        usage="amplint run [--steps N] [--device D] [--nproc N] SCRIPT | -m MODULE [-- ARGS]",
        description="Runs a training program as it is and reports each misuse of AMP once, where it happens. "
        "amplint's own flags come before the program; what follows it belongs to the program.",
    )
    add_options(parser, names=OPTIONS)
    parser.add_argument("--trace", type=Path, metavar="FILE", help="keep the trace of the run (JSON lines)")
    parser.add_argument(
        "--dtypes", action="store_true", help="count the operations of each step by dtype (in the trace)"
    )
    add_program_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the program, report, and return the exit code. Raises UsageError."""
    cwd = Path.cwd()
    resolver = Resolver(given_values(options), cwd)
    settings = resolver.top().settings
    setup = Setup(resolver, cwd)
    setup.check_selectors()
    outputs = parse_outputs(settings.output_format, settings.output_file)
    check_place(options.trace)
    traces = _traces(options)
    findings = Findings(cwd, lambda path, code: code in setup.codes(path))
    sightings = [sighting for trace in traces for sighting in trace.sightings] + disagreements(traces)
    report = Report(findings=findings.of(sightings), texts=findings.texts, folder=cwd)
    report.checked = len(findings.texts)
    write_all(report, outputs, settings)
    if not settings.quiet:
        _summarise(traces, report)
    if any(trace.outcome.ending is Ending.INTERRUPTED for trace in traces):
        return INTERRUPTED
    if report.findings:
        return CLEAN if settings.exit_zero else FOUND
    is_judged = all(trace.outcome.is_clean for trace in traces) and any(trace.steps for trace in traces)
    return CLEAN if is_judged else FAILED


def _traces(options: argparse.Namespace) -> list[Trace]:
    program = program_of(options)
    job = Job(
        program=program,
        folder="",
        directory=program.directory,
        detail=_detail(options),
        steps=options.steps,
        seed=options.seed,
        threads=options.threads,
        device=options.device,
        is_output_shown=True,
        kept=Kept.NOTHING if options.trace is None else Kept.EVERYTHING,
    )
    try:
        display = StepsLine(options.steps, is_wanted=not options.quiet)
        with Driver(options.time_limit, display.show, keeps_interrupted=True) as driver:
            try:
                runs = run_ranks(driver, job, options.nproc) if options.nproc > 1 else [driver.run(job)]
            finally:
                display.clear()
            if options.trace is not None:
                _keep(runs, options.trace)
    except RuntimeUnavailableError as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        say(ALL_ENDED)
        raise
    return [each.trace for each in runs]


def _detail(options: argparse.Namespace) -> Detail:
    """A trace that somebody keeps holds every number."""
    if options.dtypes:
        return Detail.OPERATIONS
    return Detail.EVENTS if options.trace is None else Detail.FULL


def _keep(runs: list[Run], place: Path) -> None:
    """The traces of the ranks one after the other; each begins with a record that names its rank."""
    try:
        place.write_bytes(b"".join(run.trace_file.read_bytes() for run in runs if run.trace_file.exists()))
    except OSError as error:
        raise UsageError(f"{place}: cannot be written: {error.strerror}") from error


def _summarise(traces: list[Trace], report: Report) -> None:
    for number, trace in enumerate(traces):
        prefix = f"rank {number}: " if len(traces) > 1 else ""
        for line in explain(trace.outcome, trace):
            say(prefix + line)
    first = traces[0]
    for note in first.summary.get("retargeted", ()):
        say(note)
    steps = len(first.steps)
    skipped = sum(not step.is_applied for step in first.steps)
    count = len(report.findings)
    say(
        f"{steps} optimizer steps on {first.start.get('device', 'no device')}, {skipped} skipped; "
        f"{count} finding{'' if count == 1 else 's'}."
    )
