"""Runs rules over one module; knows nothing of files, selection or suppressions."""

from collections.abc import Iterable

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Problem
from amplint.rules.registry import RegisteredRule


def check_module(facts: Facts, rules: Iterable[RegisteredRule]) -> tuple[list[Finding], list[Problem]]:
    """The findings of the rules in this module, in source order, and a problem for each rule that failed.

    A finding may stand in another file of the context, where the defect is in a callee.
    """
    findings: list[Finding] = []
    problems: list[Problem] = []
    for registered in rules:
        try:
            findings.extend(registered.check(facts))
        except RecursionError:
            problems.append(Problem(facts.path, "nested too deeply to analyse", registered.rule.code))
        except Exception as error:  # a fault in one rule must not hide what the others say
            message = f"internal fault: {type(error).__name__}: {error}; please report it with the file"
            problems.append(Problem(facts.path, message, registered.rule.code))
    findings.sort(key=lambda f: (f.path, f.span, f.code))
    return findings, problems
