"""Findings as failed tests in JUnit's XML, which build servers show."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from amplint.model.finding import Finding
from amplint.report.look import Look
from amplint.report.report import Report
from amplint.report.text import location

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(report: Report, stream: TextIO, look: Look) -> None:
    """A suite for each file with findings, a test for each of them; one test that passes where nothing was found."""
    errors = sum(problem.is_fatal for problem in report.problems)
    total = len(report.findings) + len(report.problems) or 1
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(f'<testsuites name="amplint" tests="{total}" failures="{len(report.findings)}" errors="{errors}">\n')
    for path, group in groupby(report.findings, key=lambda finding: finding.path):
        findings = list(group)
        _suite(stream, path, [_failed(report, finding) for finding in findings], failures=len(findings))
    for problem in report.problems:
        case = f"    <testcase name={_quoted(problem.rule or 'check')} classname={_quoted(problem.path)}>\n"
        kind = "error" if problem.is_fatal else "skipped"
        case += f"      <{kind} message={_quoted(problem.message)}/>\n    </testcase>\n"
        _suite(stream, problem.path, [case], errors=int(problem.is_fatal))
    if not report.findings and not report.problems:
        _suite(stream, "amplint", ['    <testcase name="no findings" classname="amplint"/>\n'])
    stream.write("</testsuites>\n")


def _suite(stream: TextIO, name: str, cases: list[str], *, failures: int = 0, errors: int = 0) -> None:
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    stream.write(f"  <testsuite name={_quoted(name)} {counts}>\n{''.join(cases)}  </testsuite>\n")


def _failed(report: Report, finding: Finding) -> str:
    name = f"{finding.code} {finding.name}"
    body = "\n".join(_lines(report, finding))
    return (
        f"    <testcase name={_quoted(name)} classname={_quoted(finding.path)}>\n"
        f"      <failure type={_quoted(finding.severity)} message={_quoted(finding.message)}>"
        f"{escape(_clean(body))}</failure>\n    </testcase>\n"
    )


def _lines(report: Report, finding: Finding) -> Iterator[str]:
    yield f"{location(report, finding.path, finding.span)}: {finding.message}"
    for note in finding.notes:
        yield f"{location(report, note.path or finding.path, note.span)}: {note.message}"
    if finding.fix:
        yield f"fix: {finding.fix.title}"


def _quoted(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _clean(text: str) -> str:
    """The text without what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
