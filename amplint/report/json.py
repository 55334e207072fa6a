"""Findings as one JSON array, in the shape that ruff gives its own, with the notes beside them."""

import json
from typing import Any, TextIO

from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.report.look import Look
from amplint.report.pages import rule_url
from amplint.report.report import Report, place


def write(report: Report, stream: TextIO, look: Look) -> None:
    """An array of objects, one a finding."""
    json.dump([record(report, finding) for finding in report.findings], stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def record(report: Report, finding: Finding) -> dict[str, Any]:
    """One finding. Rows and columns count from 1; in a notebook rows count within the cell."""
    return {
        "cell": place(report, finding.path, finding.span.line)[0],
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity,
        "filename": absolute(report, finding.path),
        **locations(report, finding.path, finding.span),
        "fix": _fix(report, finding),
        "url": rule_url(report.docs, finding.code, finding.name),
        "notes": [
            {
                "message": note.message,
                "cell": place(report, note.path or finding.path, note.span.line)[0],
                "filename": absolute(report, note.path or finding.path),
                **locations(report, note.path or finding.path, note.span),
            }
            for note in finding.notes
        ],
    }


def absolute(report: Report, path: str) -> str:
    """The whole path of a file of the report."""
    return str(report.folder / path)


def locations(report: Report, path: str, span: Span) -> dict[str, dict[str, int]]:
    """`location` and `end_location`; a span's end is counted in the cell of its start."""
    _, row = place(report, path, span.line)
    return {
        "location": {"row": row, "column": span.column + 1},
        "end_location": {"row": row + span.end_line - span.line, "column": span.end_column + 1},
    }


def _fix(report: Report, finding: Finding) -> dict[str, Any] | None:
    fix = finding.fix
    if fix is None:
        return None
    edits = [
        {
            "content": edit.text,
            "cell": place(report, finding.path, edit.span.line)[0],
            **locations(report, finding.path, edit.span),
        }
        for edit in report.edits.get(finding, ())
    ]
    return {"applicability": fix.applicability, "kind": fix.kind, "message": fix.title, "edits": edits}
