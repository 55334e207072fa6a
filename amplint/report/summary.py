"""What a run came to in a few lines: counts, what was fixed, which fixes wait and why, what to do next."""

from collections import Counter
from collections.abc import Iterator

from amplint.model.applicability import Applicability, FixKind
from amplint.report.report import Report, place


def summary(report: Report, *, target: str, is_diff: bool = False) -> Iterator[str]:
    """The lines, in order. is_diff says that fixes were shown instead of made."""
    yield from _fixed(report, "Would fix" if is_diff else "Fixed")
    if is_diff:
        return
    files = len({finding.path for finding in report.findings})
    checked = _count(report.checked, "file")
    if report.findings:
        yield f"Found {_count(len(report.findings), 'finding')} in {_count(files, 'file')} ({checked} checked)."
    elif not report.problems:
        yield f"No findings ({checked} checked)."
    if report.known:
        yield f"{_count(report.known, 'known finding')} of the baseline not shown."
    if report.unchanged:
        yield f"{_count(report.unchanged, 'finding')} on unchanged lines not shown."
    yield from _waiting(report)
    if any(fix.kind is FixKind.REPAIR for fix in report.applied):
        yield "Judge the repairs on a real run: amplint verify --no-fix SCRIPT"
    elif any(_is_waiting_repair(found.fix) for found in report.findings):
        has_safe = any(_is_waiting_repair(found.fix) for found in report.waiting(Applicability.SAFE))
        flag = "" if has_safe else "--unsafe-fixes "
        yield f"Judge the repairs on a real run before applying them: amplint verify {flag}SCRIPT"
    if report.findings and not report.docs:
        yield f"More about a rule: amplint rule {report.findings[0].code}"
    if report.assumes_target:
        yield f"No torch version is stated, so {target} is assumed; set `target-torch` to change that."


def _is_waiting_repair(fix: object) -> bool:
    kind, applicability = getattr(fix, "kind", None), getattr(fix, "applicability", None)
    return kind is FixKind.REPAIR and applicability is not Applicability.DISPLAY


def _fixed(report: Report, verb: str) -> Iterator[str]:
    if not report.applied:
        return
    kinds = Counter(fix.kind for fix in report.applied)
    parts = []
    if kinds[FixKind.MIGRATION]:
        parts.append(f"{_count(kinds[FixKind.MIGRATION], 'migration')}")
    if kinds[FixKind.REPAIR]:
        parts.append(f"{_count(kinds[FixKind.REPAIR], 'repair')}")
    yield f"{verb} {_count(len(report.applied), 'finding')}: {', '.join(parts)}."
    for fix in report.applied:
        if fix.kind is FixKind.REPAIR:
            cell, line = place(report, fix.path, fix.line)
            where = f"{fix.path}:{line}" if cell is None else f"{fix.path}:cell {cell}:{line}"
            yield f"  changes training: {where} {fix.code} {fix.title}"


def _waiting(report: Report) -> Iterator[str]:
    refused = dict(report.refused)
    waiting = {kind: [f for f in report.waiting(kind) if f not in refused] for kind in Applicability}
    if waiting[Applicability.SAFE]:
        yield f"{_count(len(waiting[Applicability.SAFE]), 'fix', 'fixes')} can be applied with --fix."
    if waiting[Applicability.UNSAFE]:
        number = len(waiting[Applicability.UNSAFE])
        yield f"{_count(number, 'more fix', 'more fixes')} with --fix --unsafe-fixes: they hold a guess or a risk."
    if waiting[Applicability.DISPLAY]:
        number = len(waiting[Applicability.DISPLAY])
        yield f"{_count(number, 'fix needs', 'fixes need')} a choice that only a person can make."
    for reason, number in sorted(Counter(refused.values()).items()):
        yield f"{_count(number, 'fix', 'fixes')} not applied: {reason}."


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def timing(report: Report) -> Iterator[str]:
    """Where the time of all processes went, the most first."""
    for what, seconds in sorted(report.seconds.items(), key=lambda item: -item[1]):
        yield f"{seconds * 1000:10.1f} ms  {what}"
