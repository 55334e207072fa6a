"""How often each rule was found; shows no single finding."""

from collections import Counter
from typing import TextIO

from amplint.model.edit import Applicability
from amplint.report.look import Look
from amplint.report.paint import Row, paint
from amplint.report.report import Report, links


def write(report: Report, stream: TextIO, look: Look) -> None:
    """One line a rule, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    severities = {finding.code: finding.severity for finding in report.findings}
    fixable = Counter(found.code for found in report.waiting(Applicability.SAFE))
    width = len(str(max(counts.values(), default=0)))
    rows: list[Row] = []
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        mark = f"  [{fixable[code]} fixable]" if fixable[code] else ""
        rows.append([(f"{count:>{width}}  ", ""), (code, severities[code]), (f"  {name}", ""), (mark, "fix")])
    paint(rows, stream, look, links(report))
