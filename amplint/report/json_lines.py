"""Findings as JSON, one object a line, in the shape of the `json` format."""

import json
from typing import TextIO

from amplint.report.json import record
from amplint.report.look import Look
from amplint.report.report import Report


def write(report: Report, stream: TextIO, look: Look) -> None:
    """One line a finding."""
    for finding in report.findings:
        stream.write(json.dumps(record(report, finding), ensure_ascii=False) + "\n")
