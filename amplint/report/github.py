"""Findings as workflow commands of GitHub Actions, which shows them beside the changed lines.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from typing import TextIO

from amplint.model.finding import Finding, Severity
from amplint.report.look import Look
from amplint.report.report import Report, place
from amplint.report.repository import from_root
from amplint.report.visible import visible

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def write(report: Report, stream: TextIO, look: Look) -> None:
    """`::error file=…,line=…::message`, one line a finding. In a notebook the place is told in the message."""
    for finding in report.findings:
        properties = ",".join(
            f"{name}={_escaped(value, is_property=True)}" for name, value in _properties(report, finding)
        )
        message = _escaped(_message(report, finding), is_property=False)
        stream.write(f"::{_LEVELS[finding.severity]} {properties}::{message}\n")


def _properties(report: Report, finding: Finding) -> list[tuple[str, str]]:
    found = [("title", f"{finding.code} {finding.name}"), ("file", from_root(report, finding.path))]
    span = finding.span
    if place(report, finding.path, span.line)[0] is None:
        found += [("line", str(span.line)), ("endLine", str(span.end_line))]
        # Columns are only understood within one line.
        if span.line == span.end_line:
            found += [("col", str(span.column + 1)), ("endColumn", str(span.end_column + 1))]
    return found


def _message(report: Report, finding: Finding) -> str:
    cell, row = place(report, finding.path, finding.span.line)
    where = "" if cell is None else f"cell {cell}, line {row}: "
    notes = "".join(
        f"\n{note.message}: line {place(report, note.path or finding.path, note.span.line)[1]}"
        for note in finding.notes
    )
    fix = f"\nfix: {finding.fix.title}" if finding.fix else ""
    return f"{where}{finding.message}{notes}{fix}"


def _escaped(text: str, *, is_property: bool) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    text = visible(text)
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text
