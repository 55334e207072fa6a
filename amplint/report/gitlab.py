"""Findings as a GitLab Code Quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

import json
from typing import TextIO

from amplint.model.finding import Severity
from amplint.report.fingerprint import fingerprints
from amplint.report.look import Look
from amplint.report.report import Report, place
from amplint.report.repository import from_root

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.ADVICE: "minor"}


def write(report: Report, stream: TextIO, look: Look) -> None:
    """An array of objects, one a finding. In a notebook the lines count within the cell, which the text names."""
    records = []
    for finding, known in zip(report.findings, fingerprints(report, report.findings), strict=True):
        cell, row = place(report, finding.path, finding.span.line)
        where = "" if cell is None else f"cell {cell}: "
        records.append(
            {
                "description": f"{finding.code} {finding.name}: {where}{finding.message}",
                "check_name": finding.code,
                "fingerprint": known.digest,
                "severity": _SEVERITIES[finding.severity],
                "location": {
                    "path": from_root(report, finding.path),
                    "lines": {"begin": row, "end": row + finding.span.end_line - finding.span.line},
                },
            }
        )
    json.dump(records, stream, indent=2, ensure_ascii=False)
    stream.write("\n")
