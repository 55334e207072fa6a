"""Takes from a report what a person did not ask to see: known findings, findings on lines that did not change."""

from pathlib import Path

from amplint.config.load import Resolved
from amplint.engine.changes import Changes
from amplint.report import baseline
from amplint.report.fingerprint import fingerprints
from amplint.report.report import Report
from amplint.source.text import Source


def narrow(report: Report, top: Resolved) -> None:
    """Drop findings as the settings of the run say, and count them. Raises UsageError."""
    settings = top.settings
    if settings.baseline:
        file = baseline_file(top)
        known = baseline.read(file)
        pairs = zip(report.findings, fingerprints(report, report.findings, file.parent), strict=True)
        kept = [finding for finding, print_ in pairs if not known.knows(print_)]
        report.known = len(report.findings) - len(kept)
        report.findings = kept
    if settings.diff_base:
        _keep_changed(report, Changes(settings.diff_base, report.folder))


def baseline_file(top: Resolved) -> Path:
    """The baseline's place: relative to the file that names it, or to the working directory for the flag."""
    name = top.settings.baseline or "amplint-baseline.json"
    return Path.cwd() / name if top.origins.get("baseline") == "command line" else top.root / name


def _keep_changed(report: Report, changes: Changes) -> None:
    lines: dict[str, frozenset[int]] = {}
    kept = []
    for finding in report.findings:
        text = report.texts.get(finding.path)
        if finding.path not in lines and isinstance(text, Source):
            lines[finding.path] = changes.lines(text)
        own = range(
            min(finding.span.line, finding.statement.line), max(finding.span.end_line, finding.statement.end_line) + 1
        )
        if lines.get(finding.path, frozenset()).intersection(own):
            kept.append(finding)
    report.unchanged = len(report.findings) - len(kept)
    report.findings = kept
