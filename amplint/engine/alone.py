"""Checks one program that is seen without any other file, as hosts show it that call plugins file by file."""

from collections.abc import Collection
from pathlib import Path

from amplint.config.load import Resolver
from amplint.engine.check import check_module
from amplint.engine.setup import Setup
from amplint.facts.gather import Facts
from amplint.model.finding import Finding
from amplint.rules.registry import all_rules
from amplint.source.lines import normalise
from amplint.source.suppress import suppressions
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.parse import parse, second_reading


def check_alone(path: str, program: str, selected: Collection[str], target: str | None) -> list[Finding]:
    """The findings of the default rules, and of those that a selected prefix names, that no comment silences.

    Settings say what the code means, not which rules apply. A program that does not parse gives none: the host says so.
    """
    place = Path.cwd() / path
    setup = Setup(Resolver({"target_torch": target}, Path.cwd()), Path.cwd())
    program = normalise(program)
    try:
        module = parse(program)
    except (SyntaxFaultError, RecursionError):
        return []
    rules = [item for item in all_rules() if item.rule.is_default or item.rule.code.startswith(tuple(selected))]
    while True:
        findings, _ = check_module(Facts(path, module, setup.check_settings(place.parent)), rules)
        again = second_reading(program, module, [finding.statement for finding in findings])
        if again is None:
            break
        module = again
    comments = suppressions(module.comments)
    return [finding for finding in findings if not comments.find(finding.code, finding.name, finding.statement)]
