"""Judges a fix by its rule's contract, and a script by what every correct script satisfies.

Knows contracts (the values of `rules.rule.Contract`) and which oracles answer for each; starts no process itself.
"""

from collections.abc import Callable

from amplint.runtime import oracles
from amplint.runtime.intended import INTENDED, fallback
from amplint.runtime.job import AMP_OFF
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.reach import is_reached
from amplint.runtime.verdict import Change, Check, Conclusion, Verdict, from_checks

Judge = Callable[[Laboratory, Change, str, str], Verdict]


def judge(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    """The verdict on one fix. before and after are variants that differ in this fix (or in all, where they must)."""
    end = oracles.ran(lab, after)
    if end.has_passed is False:
        if _fails_anyway(lab, change, before, after):
            return Verdict(Conclusion.INCONCLUSIVE, f"with and without the fix the program fails: {end.detail}", (end,))
        return Verdict(Conclusion.REFUTED, f"with the fix the program fails: {end.detail}", (end,))
    if not is_reached(lab, change):
        return Verdict(Conclusion.NOT_EXERCISED, "the code that it changes did not run")
    if end.has_passed is None:
        return Verdict(Conclusion.INCONCLUSIVE, end.detail, (end,))
    return _CONTRACTS.get(change.contract, _run)(lab, change, before, after)


def _fails_anyway(lab: Laboratory, change: Change, before: str, after: str) -> bool:
    """Whether the program ends alike with and without a fix that was not meant to make it run."""
    one, other = lab.trace(before), lab.trace(after)
    is_alike = (one.outcome.error, len(one.steps)) == (other.outcome.error, len(other.steps))
    is_meant_to_run = change.contract == "run" or any(each.code == change.code for each in other.sightings)
    return is_alike and not one.outcome.is_clean and not is_meant_to_run


def judge_script(lab: Laboratory, variant: str) -> Verdict:
    """What a correct script satisfies, whatever it trains."""
    checks = [oracles.ran(lab, variant)]
    if checks[0].has_passed:
        checks.append(_quiet(lab, variant))
        checks.append(_runs_without_amp(lab, variant))
        checks.append(oracles.scale_invariant(lab, variant))
        checks.append(oracles.survives_overflow(lab, variant))
        checks.extend(oracles.ranks_agree(lab, variant))
    return from_checks(checks, "nothing that this run can show is wrong")


def _quiet(lab: Laboratory, variant: str) -> Check:
    sightings = lab.trace(variant).sightings
    if not sightings:
        return Check("no misuse seen", True)
    first = sightings[0]
    return Check("no misuse seen", False, f"{first.code} in line {first.site.line}: {first.message}")


def _runs_without_amp(lab: Laboratory, variant: str) -> Check:
    outcome = lab.trace(variant, AMP_OFF).outcome
    return Check("runs with AMP off", outcome.is_clean or None, "" if outcome.is_clean else outcome.error)


def _bitwise(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    return from_checks([oracles.same_trace(lab, before, after)], "the same numbers, bit for bit")


def _protocol(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    checks = [
        oracles.one_step_a_backward(lab, before, after) or oracles.same_without_amp(lab, before, after),
        oracles.scale_invariant(lab, after),
        oracles.survives_overflow(lab, after),
        oracles.gradient_at_clip(lab, after),
        shows_mistake(lab, change, before),
    ]
    return from_checks(checks, "the mistake shows before and is gone after; with AMP off nothing changed")


def shows_mistake(lab: Laboratory, change: Change, before: str) -> Check:
    """Before the fix something must be wrong: the program fails, is seen to misuse AMP, or notices the scale."""
    name = "before the fix"
    trace = lab.trace(before)
    if not trace.outcome.is_clean:
        return Check(name, True, trace.outcome.error)
    for oracle in (oracles.scale_invariant, oracles.survives_overflow):
        check = oracle(lab, before)
        if check.has_passed is False:
            return Check(name, True, check.detail)
    seen = next((each for each in trace.sightings if each.code == change.code), None)
    if seen is not None:
        return Check(name, True, f"line {seen.site.line}: {seen.message}")
    return Check(name, None, "the mistake shows in no run of this length")


def _intended(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    oracle = INTENDED.get(change.code)
    checks = oracle(lab, before, after) if oracle else fallback(lab, change.code, before, after)
    checks.append(oracles.scale_invariant(lab, after))
    checks.append(oracles.survives_overflow(lab, after))
    return from_checks(checks, "the quantity that was wrong is right")


def _region(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    same = oracles.same_trace(lab, before, after)
    if same.has_passed:
        return from_checks([same], "nothing changed, bit for bit")
    checks = [oracles.has_half_operations(lab, after), oracles.close_to_float32(lab, after, before)]
    return from_checks(checks, "half precision where it was meant, and close to float32")


def _run(lab: Laboratory, change: Change, before: str, after: str) -> Verdict:
    outcome = lab.trace(before).outcome
    works = Check("before the fix", not outcome.is_clean or None, outcome.error or "the program ran, too")
    checks = [works, oracles.scale_invariant(lab, after), oracles.survives_overflow(lab, after)]
    return from_checks(checks, "the program runs now, and satisfies what every correct script does")


_CONTRACTS: dict[str, Judge] = {
    "bitwise": _bitwise,
    "protocol": _protocol,
    "intended": _intended,
    "region": _region,
    "run": _run,
}
