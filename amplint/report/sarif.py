"""Findings as SARIF 2.1.0, for code scanning: rules with their pages, the path as code flow, fixes, fingerprints.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
from typing import Any, TextIO

from amplint import __version__
from amplint.model.edit import Applicability
from amplint.model.finding import Finding, Problem, Severity
from amplint.model.span import Span
from amplint.report.fingerprint import Fingerprint, fingerprints
from amplint.report.look import Look
from amplint.report.pages import rule_url
from amplint.report.report import Report, place
from amplint.report.repository import from_root, repository_root, uri

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def write(report: Report, stream: TextIO, look: Look) -> None:
    """One run with all findings as results, and problems as notifications."""
    codes = sorted({(finding.code, finding.name, finding.severity) for finding in report.findings})
    index = {code: number for number, code in enumerate(dict.fromkeys(code for code, _, _ in codes))}
    first = {code: (name, severity) for code, name, severity in reversed(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "amplint",
                "semanticVersion": __version__,
                "rules": [_rule(report, code, *first[code]) for code in index],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": uri(f"{repository_root(report.folder).as_posix().rstrip('/')}/")}},
        "invocations": [_invocation(report)],
        "results": [
            _result(report, finding, index[finding.code], known)
            for finding, known in zip(report.findings, fingerprints(report, report.findings), strict=True)
        ],
    }
    json.dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def _rule(report: Report, code: str, name: str, severity: Severity) -> dict[str, Any]:
    page = report.pages.get(code, name)
    summary = " ".join(page.strip().split("\n\n")[0].split())
    rule: dict[str, Any] = {
        "id": code,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": summary},
        "help": {"text": page.strip(), "markdown": page.strip()},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {"tags": ["pytorch", "mixed-precision"], "kebabName": name},
    }
    url = rule_url(report.docs, code, name)
    return rule | {"helpUri": url} if url else rule


def _invocation(report: Report) -> dict[str, Any]:
    is_successful = not any(problem.is_fatal for problem in report.problems)
    notes = [_notification(report, problem) for problem in report.problems]
    return {"executionSuccessful": is_successful, "toolExecutionNotifications": notes}


def _notification(report: Report, problem: Problem) -> dict[str, Any]:
    where = {"physicalLocation": {"artifactLocation": _artifact(report, problem.path)}}
    return {
        "level": "error" if problem.is_fatal else "warning",
        "message": {"text": problem.message},
        "locations": [where],
    }


def _result(report: Report, finding: Finding, rule_index: int, known: Fingerprint) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(report, finding.path, finding.span)],
        "partialFingerprints": {"amplintFingerprint/v1": known.digest},
    }
    if finding.notes:
        result["relatedLocations"] = [
            _location(report, note.path or finding.path, note.span, note.message) | {"id": number}
            for number, note in enumerate(finding.notes)
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(report, finding)}]}]
    fix = _fix(report, finding)
    return result | {"fixes": [fix]} if fix else result


def _flow(report: Report, finding: Finding) -> list[dict[str, Any]]:
    """The path in the order in which the program takes it; the finding stands before the first note behind it."""
    steps = [(note.path or finding.path, note.span, note.message) for note in finding.notes]
    own = (finding.path, finding.span)
    if own not in [(path, span) for path, span, _ in steps]:
        behind = (n for n, (path, span, _) in enumerate(steps) if path == finding.path and span > finding.span)
        steps.insert(next(behind, len(steps)), (finding.path, finding.span, finding.message))
    return [{"location": _location(report, path, span, message)} for path, span, message in steps]


def _location(report: Report, path: str, span: Span, message: str | None = None) -> dict[str, Any]:
    """A place. Those in notebooks have no region, for the lines of cells are not the lines of the file."""
    physical: dict[str, Any] = {"artifactLocation": _artifact(report, path)}
    cell, row = place(report, path, span.line)
    location: dict[str, Any] = {"physicalLocation": physical}
    if cell is None:
        physical["region"] = _region(span)
    else:
        location["logicalLocations"] = [{"name": f"cell {cell}", "fullyQualifiedName": f"cell {cell}, line {row}"}]
    return location | {"message": {"text": message}} if message is not None else location


def _artifact(report: Report, path: str) -> dict[str, str]:
    relative = from_root(report, path)
    return {"uri": uri(relative)} if relative.startswith("/") else {"uri": uri(relative), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _fix(report: Report, finding: Finding) -> dict[str, Any] | None:
    """The fix, where it is one that could be applied and its file has lines of its own."""
    edits = report.edits.get(finding, ())
    is_notebook = place(report, finding.path, finding.span.line)[0] is not None
    if finding.fix is None or finding.fix.applicability is Applicability.DISPLAY or not edits or is_notebook:
        return None
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in edits]
    change = {"artifactLocation": _artifact(report, finding.path), "replacements": replacements}
    return {
        "description": {"text": finding.fix.title},
        "artifactChanges": [change],
        "properties": {"applicability": finding.fix.applicability, "kind": finding.fix.kind},
    }
