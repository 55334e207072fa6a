"""Known findings of an old tree, kept in a file, so that only new ones are reported; judges no finding itself."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from amplint.config.disk import read_plain
from amplint.config.usage import UsageError
from amplint.report.fingerprint import Fingerprint, fingerprints
from amplint.report.report import Report
from amplint.report.repository import from_root

_VERSION = 1
Key = tuple[str, str, str]


class Baseline(Struct):
    """How often each finding is known: by path from the baseline's folder, code and hash of its line."""

    counts: Counter[Key] = field(default_factory=Counter)

    def knows(self, finding: Fingerprint) -> bool:
        """Whether a finding is one of the known ones; of equal ones the first so many."""
        return finding.number < self.counts[finding[:3]]


def of_report(report: Report, root: Path) -> Baseline:
    """All findings of a report; root is the folder that the baseline lies in."""
    return Baseline(Counter(known[:3] for known in fingerprints(report, report.findings, root)))


def read(file: Path) -> Baseline:
    """The baseline in a file. Raises UsageError."""
    try:
        data = json.loads(read_plain(file))
    except OSError as error:
        raise UsageError(
            f"baseline {file}: cannot be read: {error.strerror}; write it with `amplint baseline write`"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"baseline {file}: is not JSON: {error}") from error
    try:
        return Baseline(Counter(dict(_entries(data))))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"baseline {file}: is not a baseline that this version reads") from error


def _entries(data: Any) -> Iterable[tuple[Key, int]]:
    if data["version"] != _VERSION:
        raise ValueError
    for path, codes in data["findings"].items():
        for code, lines in codes.items():
            for line, count in lines.items():
                yield (path, code, line), int(count)


def write(file: Path, baseline: Baseline) -> None:
    """Write a baseline, one line a finding, so that its changes read well. Raises UsageError."""
    findings: dict[str, dict[str, dict[str, int]]] = {}
    for (path, code, line), count in sorted(baseline.counts.items()):
        if count > 0:
            findings.setdefault(path, {}).setdefault(code, {})[line] = count
    text = json.dumps({"version": _VERSION, "findings": findings}, indent=1, ensure_ascii=False) + "\n"
    try:
        file.write_text(text, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"baseline {file}: cannot be written: {error.strerror}") from error


def elsewhere(baseline: Baseline, report: Report, root: Path) -> Baseline:
    """What a baseline knows of files that a report did not look at, and that still exist."""
    looked_at = {from_root(report, path, root) for path in report.files}
    kept = {
        key: count for key, count in baseline.counts.items() if key[0] not in looked_at and (root / key[0]).exists()
    }
    return Baseline(Counter(kept))


def pruned(baseline: Baseline, report: Report, root: Path) -> Baseline:
    """The baseline without what no longer occurs in the files of a report and without files that are gone."""
    now = of_report(report, root).counts
    looked_at = {from_root(report, path, root) for path in report.files}
    kept: Counter[Key] = Counter()
    for key, count in baseline.counts.items():
        if (root / key[0]).exists():
            kept[key] = min(count, now[key]) if key[0] in looked_at else count
    return Baseline(+kept)
