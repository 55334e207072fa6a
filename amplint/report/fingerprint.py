"""What stays the same of a finding while lines move: path, code, text of its line, and a number among equals.

Baselines, SARIF and GitLab know a finding by this, so that they agree.
"""

import hashlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from amplint.model.finding import Finding
from amplint.report.report import Report
from amplint.report.repository import from_root


class Fingerprint(NamedTuple):
    """path is relative to a root; text is a hash of the stripped line; number counts from 0."""

    path: str
    code: str
    text: str
    number: int

    @property
    def digest(self) -> str:
        """All of it as one short word."""
        return hashlib.sha256("\0".join(map(str, self)).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def fingerprints(report: Report, findings: list[Finding], root: Path | None = None) -> list[Fingerprint]:
    """The fingerprint of each of the findings, which come in the order of the report.

    Paths are relative to the root, which is the repository's where none is given.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    found: list[Fingerprint] = []
    for finding in findings:
        key = from_root(report, finding.path, root), finding.code, _line_hash(report, finding)
        found.append(Fingerprint(*key, seen[key]))
        seen[key] += 1
    return found


def _line_hash(report: Report, finding: Finding) -> str:
    text = report.texts.get(finding.path)
    lines = text.lines if text else []
    line = lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
