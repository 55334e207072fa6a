"""Runs rules over one module; knows nothing of files, selection or suppressions."""

from collections import defaultdict
from collections.abc import Iterable
from time import perf_counter

from amplint.config.fault import is_traced, told
from amplint.facts.accumulation.unjudged import unjudged
from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Problem
from amplint.rules.registry import RegisteredRule


def check_module(
    facts: Facts, rules: Iterable[RegisteredRule], seconds: defaultdict[str, float] | None = None
) -> tuple[list[Finding], list[Problem]]:
    """The findings of the rules in this module, in source order, and a problem for each way in which rules failed.

    So is one for each function that could not be judged.

    A finding may stand in another file of the context, where the defect is in a callee. The time of each rule is added
    to seconds; facts that several rules need are counted for the first that asks.
    """
    findings: list[Finding] = []
    failed: dict[str, list[str]] = {}  # by what is said of it: facts that many rules need fail once for each of them
    for registered in rules:
        start = perf_counter()
        try:
            findings.extend(registered.check(facts))
        except RecursionError:
            failed.setdefault("nested too deeply to analyse", []).append(registered.rule.code)
        except Exception as error:  # a fault in one rule must not hide what the others say
            if is_traced():
                raise
            message = f"{told(error)}; please report it with the file"
            failed.setdefault(message, []).append(registered.rule.code)
        if seconds is not None:
            seconds[registered.rule.code] += perf_counter() - start
    problems = [_failure(facts.path, message, codes) for message, codes in failed.items()]
    # What is only incomplete fails no run.
    problems += (Problem(facts.path, message, is_fatal=False) for message in unjudged(facts))
    findings.sort(key=lambda f: (f.path, f.span, f.code))
    return findings, problems


def _failure(path: str, message: str, codes: list[str]) -> Problem:
    """One problem for all rules that failed in one way, with the first of them."""
    others = len(codes) - 1
    more = f"; {others} more rule{'s' if others > 1 else ''} failed by it" if others else ""
    return Problem(path, f"{message}{more}", codes[0])
