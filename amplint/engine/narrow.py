"""What a person did not ask to see: known findings, and findings on lines that did not change. Judges no code.

Those are neither reported nor fixed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from amplint.config.load import Resolved
from amplint.engine.changes import Changes
from amplint.model.data import Value
from amplint.model.finding import Finding
from amplint.report import baseline
from amplint.report.baseline import Baseline
from amplint.report.fingerprint import fingerprints
from amplint.report.report import Report, Text
from amplint.source.text import Source


class Narrowing(Value):
    """The baseline and the changes that a run is narrowed to; root is the baseline's folder."""

    folder: Path
    known: Baseline | None = None
    root: Path = Path()
    changes: Changes | None = None

    def without_known(self, findings: Sequence[Finding], texts: Mapping[str, Text]) -> list[Finding]:
        """The findings that the baseline does not know, in their order; they are all that were found in their files."""
        if self.known is None:
            return list(findings)
        prints = fingerprints(Report(texts=texts, folder=self.folder), list(findings), self.root)
        return [finding for finding, print_ in zip(findings, prints, strict=True) if not self.known.knows(print_)]

    def on_changed_lines(self, findings: Sequence[Finding], texts: Mapping[str, Text]) -> list[Finding]:
        """The findings whose statement has a line that changed, in their order."""
        if self.changes is None:
            return list(findings)
        sources = {path: texts.get(path) for path in {finding.path for finding in findings}}
        lines = {path: self.changes.lines(text) for path, text in sources.items() if isinstance(text, Source)}
        return [finding for finding in findings if lines.get(finding.path, frozenset()).intersection(_own(finding))]

    def wanted(self, findings: Sequence[Finding], texts: Mapping[str, Text]) -> list[Finding]:
        """What is left of all findings of some files."""
        return self.on_changed_lines(self.without_known(findings, texts), texts)


def narrowing(top: Resolved, folder: Path) -> Narrowing | None:
    """What the settings of a run leave out; None where they leave out nothing. Raises UsageError."""
    settings = top.settings
    has_baseline = bool(settings.baseline) and not settings.no_baseline
    if not has_baseline and not settings.diff_base:
        return None
    file = baseline_file(top)
    return Narrowing(
        folder,
        baseline.read(file) if has_baseline else None,
        file.parent,
        Changes(settings.diff_base, folder) if settings.diff_base else None,
    )


def narrow(report: Report, narrowing: Narrowing) -> None:
    """Drop the findings of a report that were not asked for, and count them."""
    new = narrowing.without_known(report.findings, report.texts)
    kept = narrowing.on_changed_lines(new, report.texts)
    report.known, report.unchanged = len(report.findings) - len(new), len(new) - len(kept)
    report.findings = kept


def baseline_file(top: Resolved) -> Path:
    """The baseline's place: relative to the file that names it, or to the working directory for the flag."""
    name = top.settings.baseline or "amplint-baseline.json"
    return Path.cwd() / name if top.origins.get("baseline") == "command line" else top.root / name


def _own(finding: Finding) -> range:
    first = min(finding.span.line, finding.statement.line)
    return range(first, max(finding.span.end_line, finding.statement.end_line) + 1)
