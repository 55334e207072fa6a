"""Checks and fixes small programs with made-up rules, without settings and without a disk."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress

from amplint.engine.check import check_module
from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.engine.fix import FixResult, fix_files
from amplint.facts.gather import Facts
from amplint.model.edit import Applicability, Fix, FixKind, Repair
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Call, Node
from amplint.model.walks import dotted
from amplint.rules.registry import RegisteredRule
from amplint.rules.rule import Contract, FixAvailability, Rule
from amplint.source.suppress import suppressions
from amplint.source.text import Source, source_from_bytes
from amplint.syntax.lower import SyntaxFaultError, lower

Repairs = Callable[[Facts, Call], tuple[Repair, ...]]


def rule(
    callee: str,
    repairs: Repairs,
    *,
    code: str = "AMP199",
    applicability: Applicability = Applicability.SAFE,
    kind: FixKind = FixKind.MIGRATION,
) -> RegisteredRule:
    """A rule that reports each call of a plain name and repairs it."""
    declared = Rule(code, f"call-of-{callee}", Severity.ERROR, FixAvailability.ALWAYS, Contract.NONE, "0.1")

    def check(facts: Facts) -> Iterator[Finding]:
        for call in facts.index.calls:
            if dotted(call.func) == callee:
                fix = Fix(f"fix {callee}", kind, applicability, repairs(facts, call))
                yield declared.finding(facts, call, f"{callee} is called", fix=fix)

    return RegisteredRule(declared, "", check)


def checked(source: Source, rules: list[RegisteredRule]) -> CheckedFile:
    facts = Facts(source.path, lower(source.program))
    findings, problems = check_module(facts, rules)
    assert not problems
    comments = suppressions(facts.module.comments)
    kept = (finding for finding in findings if comments.find(finding.code, finding.name, finding.statement) is None)
    return CheckedFile(source, facts, tuple(kept))


def fixed(
    text: str | bytes, *rules: RegisteredRule, policy: FixPolicy | None = None, path: str = "a.py"
) -> tuple[str, FixResult]:
    raw = text.encode() if isinstance(text, str) else text
    first = checked(source_from_bytes(raw, path), list(rules))

    def recheck(changed: Mapping[str, Source], touched: Collection[str]) -> dict[str, CheckedFile]:
        found = {}
        for name in touched:
            with suppress(SyntaxFaultError):
                found[name] = checked(changed[name], list(rules))
        return found

    result = fix_files({path: first}, policy or FixPolicy(), recheck)
    return result.files[path].source.raw.decode("utf-8", "replace"), result


def statement_of(facts: Facts, node: Node) -> Node:
    return facts.index.statement(node)
