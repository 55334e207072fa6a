"""The texts that `verify` runs: the program's files with all fixes, and with all but one.

Lints with the engine and renders with `rewrite/`; knows nothing of runs.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, field

from amplint.config.load import Resolver
from amplint.engine.checked import FixPolicy
from amplint.engine.outcome import Wanted
from amplint.engine.tree import Run
from amplint.engine.tree import run as run_tree
from amplint.model.edit import Edit, Fix
from amplint.model.finding import Finding
from amplint.report.report import Report
from amplint.rules.registry import all_rules
from amplint.runtime.verdict import Change
from amplint.source.text import Source, source_from_bytes

Texts = dict[str, str]


class Fixed(Struct):
    """A linted program.

    changes are its applicable fixes; after holds all of them. without gives, by number of the change, the texts with
    all other fixes; it is empty where the fixes cannot be told apart.
    """

    report: Report
    changes: list[Change] = field(default_factory=list)
    after: Texts = field(default_factory=dict)
    without: list[Texts] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)


def fixed_variants(files: Iterable[str], resolver: Resolver, cwd: Path, *, allows_unsafe: bool) -> Fixed:
    """Lint the files of a program and render their fixes."""
    shown = [os.path.relpath(file, cwd) for file in files]
    report = run_tree(shown, resolver, cwd, Wanted()).report
    fixed = Fixed(report)
    chosen = _chosen(report, FixPolicy(is_unsafe_allowed=allows_unsafe))
    fixed.left = [finding for finding in report.findings if finding not in chosen]
    if not chosen:
        return fixed
    fixed.changes = [_change(finding, fix, report, cwd) for finding, fix in chosen.items()]
    wanted = Wanted(fixes=True, allows_unsafe=allows_unsafe)
    engine = _texts_of(run_tree(shown, resolver, cwd, wanted))
    own = _spliced(report, list(chosen), cwd)
    fixed.after = engine or own
    if own == fixed.after:
        fixed.without = [_spliced(report, [f for f in chosen if f is not finding], cwd) for finding in chosen]
    return fixed


def _chosen(report: Report, policy: FixPolicy) -> dict[Finding, Fix]:
    """The findings whose fixes are applied together: allowed, rendered, and in nobody's way."""
    found: dict[Finding, Fix] = {}
    taken: dict[str, set[Edit]] = {}
    for finding in report.findings:
        edits = report.edits.get(finding, ())
        if finding.fix is None or not edits or policy.objection(finding) is not None:
            continue
        others = taken.setdefault(finding.path, set())
        if all(edit in others or not any(edit.span.touches(other.span) for other in others) for edit in edits):
            others.update(edits)
            found[finding] = finding.fix
    return found


def _change(finding: Finding, fix: Fix, report: Report, cwd: Path) -> Change:
    contracts = {each.rule.code: each.rule.contract for each in all_rules()}
    lines = {finding.span.line, finding.statement.line}
    for edit in report.edits[finding]:
        lines.update(range(edit.span.line, edit.span.end_line + 1))
    return Change(
        code=finding.code,
        name=finding.name,
        contract=contracts[finding.code],
        title=fix.title,
        path=os.path.realpath(cwd / finding.path),
        line=finding.span.line,
        lines=tuple(sorted(lines)),
    )


def _spliced(report: Report, findings: Sequence[Finding], cwd: Path) -> Texts:
    """The files of these findings with their edits, by real path."""
    edits: dict[str, dict[Edit, None]] = {}
    for finding in findings:
        edits.setdefault(finding.path, {}).update(dict.fromkeys(report.edits[finding]))
    texts: Texts = {}
    for path, wanted in edits.items():
        source = report.texts[path]
        assert isinstance(source, Source)
        changed = source_from_bytes(source.splice(list(wanted)), path)
        texts[os.path.realpath(cwd / path)] = changed.program
    return texts


def _texts_of(run: Run) -> Texts:
    return {os.path.realpath(place): fixed.program for place, _, fixed in run.changed}
