"""One line a finding, as compilers and editors read it."""

from typing import TextIO

from amplint.model.edit import Applicability
from amplint.report.look import Look
from amplint.report.paint import Row, paint
from amplint.report.report import Report, links
from amplint.report.text import location


def write(report: Report, stream: TextIO, look: Look) -> None:
    """`train.py:41:9: AMP201 [*] message`; the star marks a fix that `--fix` applies."""
    rows: list[Row] = []
    for finding in report.findings:
        is_fixable = finding.fix is not None and finding.fix.applicability is Applicability.SAFE
        mark = "[*] " if is_fixable else ""
        where = location(report, finding.path, finding.span)
        rows.append([(where, "path"), (": ", ""), (finding.code, finding.severity), (f" {mark}{finding.message}", "")])
    paint(rows, stream, look, links(report))
