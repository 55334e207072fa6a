"""Which findings comments silence, and which of the comments silenced none; knows no file and no settings."""

from collections.abc import Collection, Iterable, Mapping

from amplint.facts.gather import Facts
from amplint.model.finding import Finding
from amplint.rules.registry import all_rules
from amplint.source.suppress import Silenced, Suppression, Suppressions, suppressions

UNUSED_CODE = "AMP001"
UNKNOWN_CODE = "AMP002"


def silence(findings: Iterable[Finding], facts: Mapping[str, Facts], checked: str) -> tuple[list[Finding], Silenced]:
    """The findings that no comment silences. facts are those of every file that findings stand in."""
    by_path = {path: suppressions(item.module.comments) for path, item in facts.items()}
    kept: list[Finding] = []
    used: set[tuple[str, Suppression]] = set()
    for finding in findings:
        covering = by_path[finding.path].find(finding.code, finding.name, finding.statement)
        if covering is None:
            kept.append(finding)
        else:
            used.add((finding.path, covering))
    return kept, Silenced(frozenset(used), by_path[checked])


def comment_findings(
    path: str, present: Suppressions, used: Collection[tuple[str, Suppression]], codes: frozenset[str]
) -> list[Finding]:
    """AMP001 and AMP002 for the suppressions of one file; codes are those that apply to it.

    One whose rules did not all run may be of use in another run, so it is left alone.
    """
    rules = {registered.rule.code: registered.rule for registered in all_rules()}
    found: list[Finding] = []

    def add(code: str, entry: Suppression, message: str) -> None:
        if code not in codes or code not in rules:
            return
        rule = rules[code]
        if present.find(code, rule.name, entry.comment) is None:
            found.append(Finding(code, rule.name, rule.severity, message, path, entry.span, entry.comment))

    for entry in present.entries:
        named = {code for code, rule in rules.items() if entry.names(code, rule.name)}
        if not named:
            what = f"`{entry.selector}` is no rule" if entry.selector else "names no rule; write `ignore[CODE]`"
            add(UNKNOWN_CODE, entry, f"this suppression silences nothing: {what}")
        elif (path, entry) not in used and named <= codes and not named & {UNUSED_CODE, UNKNOWN_CODE}:
            add(UNUSED_CODE, entry, f"this suppression silences nothing: no `{entry.selector}` is found here")
    return found
