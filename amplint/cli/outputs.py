"""Where findings are written: formats and files, from `text,sarif:out.sarif`; knows no format's inside."""

import os
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path

from amplint.config.settings import FORMATS, Settings
from amplint.config.usage import UsageError, did_you_mean
from amplint.model.data import Value
from amplint.report.look import look_of
from amplint.report.pages import published
from amplint.report.report import Report
from amplint.source.discover import SUFFIXES

_WITH_PAGES = frozenset({"sarif"})
_SILENT = frozenset({"text", "concise"})
_WITHOUT_LINKS = frozenset({"github", "gitlab", "junit"})


class Output(Value):
    """One format, and the file that it goes to; None is standard output."""

    format: str
    file: Path | None


def parse_outputs(text: str, file: str | None, origin: str = "") -> list[Output]:
    """The outputs that `--output-format` asks for; `--output-file` takes what would go to standard output.

    origin is where a configuration says so, which a stranger may have written: it may name no files. Raises UsageError
    for an unknown format, for two on standard output, or where no file can be; the message begins with the origin.
    """
    outputs: list[Output] = []
    for part in text.split(","):
        name, _, target = part.strip().partition(":")
        if name not in FORMATS:
            near = did_you_mean(name, FORMATS)
            raise UsageError(f"{origin}unknown output format {name!r}{near}; it is one of {', '.join(FORMATS)}")
        if target and origin:
            raise UsageError(f"{origin}output format {part.strip()}: which files are written is for the command line")
        chosen = target or file
        place = Path(chosen) if chosen else None
        outputs.append(Output(name, place))
        check_place(place)
    if len({output.file for output in outputs}) < len(outputs):
        raise UsageError(f"{origin}output format {text}: two formats for one place; write FORMAT:FILE for one of them")
    return outputs


def check_place(file: Path | None) -> None:
    """Raise UsageError where a file cannot or should not be written, before the work is done that it is for."""
    if file is None:
        return
    if file.is_dir():
        raise UsageError(f"{file}: cannot be written: it is a folder")
    if not file.parent.is_dir():
        raise UsageError(f"{file}: cannot be written: there is no folder {file.parent}")
    if file.suffix in SUFFIXES and file.exists():
        raise UsageError(f"{file}: is a program, so nothing else is written there")


def spare_checked(outputs: list[Output], report: Report) -> None:
    """Raise UsageError where a report would take the place of a file that was checked."""
    named = {os.path.realpath(output.file): output.file for output in outputs if output.file is not None}
    if not named:
        return
    for path in report.files:
        file = named.get(os.path.realpath(report.folder / path))
        if file is not None:
            raise UsageError(f"{file}: is one of the checked files, so no report is written there")


def write_all(report: Report, outputs: list[Output], settings: Settings) -> None:
    """Write the report to every output. Raises UsageError where a file cannot be written."""
    if report.findings and any(output.format not in _WITHOUT_LINKS for output in outputs):
        report.docs = settings.docs_url or published()
    if any(output.format in _WITH_PAGES for output in outputs):
        from amplint.rules.catalogue import catalogue

        report.pages = {rule.code: rule.page for rule in catalogue()}
    for output in outputs:
        name = output.format
        if settings.statistics and name in ("text", "concise"):
            name = "statistics"
        if name in _SILENT and output.file is None and not report.findings:
            continue
        writer = import_module(f"amplint.report.{name.replace('-', '_')}")
        if output.file is None and output.format in _SILENT:
            writer.write(report, sys.stdout, look_of(sys.stdout, settings.color, os.environ))
            continue
        # Whole before any of it is written: half a report is worse than what was in the file.
        text = StringIO()
        writer.write(report, text, look_of(text, "never", os.environ))
        if output.file is None:
            sys.stdout.write(text.getvalue())
        else:
            _write(output.file, text.getvalue())


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from error
