"""Oracles for fixes that change numbers on purpose: what the right number is, rule by rule.

Knows the codes of the static rules whose contract is `intended`; each oracle compares traces of two variants.
"""

import math
from collections import Counter
from collections.abc import Callable

from amplint.runtime import oracles
from amplint.runtime.compare import applied, first_difference
from amplint.runtime.job import AMP_OFF, AS_IS
from amplint.runtime.laboratory import Laboratory, overflow_at
from amplint.runtime.trace import Kind, Step, Trace
from amplint.runtime.verdict import Check

CLOSE = 1e-4
"""Relative distance allowed where sums are formed in another order."""

Oracle = Callable[[Laboratory, str, str], list[Check]]


def fallback(lab: Laboratory, code: str, before: str, after: str) -> list[Check]:
    """For a rule without an oracle of its own: the misuse was seen before, and is not seen after."""
    was = any(each.code == code for each in lab.trace(before).sightings)
    stays = any(each.code == code for each in lab.trace(after).sightings)
    return [
        Check("seen before the fix", was or None, "" if was else "no run shows the mistake"),
        Check("not seen after", not stays, "it is seen still" if stays else ""),
    ]


def _true_norm(step: Step) -> float | None:
    """The gradient's norm before a clip could change it."""
    return step.seen_norm if step.seen_norm is not None else step.norm


def _sum_before(lab: Laboratory, before: str, after: str) -> list[Check]:
    """The accumulated gradient is the group's mean: its sum before, divided by the number of micro-batches."""
    return _mean_of_group(lab, before, after, lambda norm, size: norm / size)


def _share_before(lab: Laboratory, before: str, after: str) -> list[Check]:
    """The accumulated gradient is the group's mean: before, that was divided by the number of micro-batches again."""
    return _mean_of_group(lab, before, after, lambda norm, size: norm * size)


def _mean_of_group(lab: Laboratory, before: str, after: str, mean_from: Callable[[float, int], float]) -> list[Check]:
    """The norm after is the one that mean_from makes of the norm before and the number of micro-batches."""
    name = "the accumulated gradient is the mean"
    left, right = lab.trace(before, AMP_OFF).steps, lab.trace(after, AMP_OFF).steps
    if not left or not right:
        return [Check(name, None, "no step with AMP off")]
    one, other = _true_norm(left[0]), _true_norm(right[0])
    size = right[0].backwards
    if not one or not other or size < 2:
        return [Check(name, None, "the first step accumulates nothing")]
    detail = f"step 1: norm {one:.6g} before, {other:.6g} after, {size} micro-batches"
    return [Check(name, math.isclose(mean_from(one, size), other, rel_tol=CLOSE), detail)]


def _whole_group(lab: Laboratory, before: str, after: str) -> list[Check]:
    """All micro-batches of a group count: the gradient changes, though the first micro-batch's loss does not."""
    name = "every micro-batch counts"
    left, right = lab.trace(before, AMP_OFF).steps, lab.trace(after, AMP_OFF).steps
    if not left or not right:
        return [Check(name, None, "no step with AMP off")]
    same = _true_norm(left[0]) == _true_norm(right[0])
    detail = f"step 1: norm {_true_norm(left[0]):.6g} before, {_true_norm(right[0]):.6g} after"
    return [Check(name, not same, detail), *fallback(lab, "AMP304", before, after)]


def _bounded(lab: Laboratory, before: str, after: str) -> list[Check]:
    """Every step applies a gradient no longer than the clip allows."""
    name = "the norm at the step is at most the bound"
    all_steps = applied(lab.trace(after, AMP_OFF).steps)
    steps = [step for step in all_steps if step.max_norm and step.norm]
    if not steps and any(step.max_value is not None for step in all_steps):
        return [_bounded_by_value(all_steps), *fallback(lab, "AMP207", before, after)]
    if not steps:
        return [Check(name, None, "no clip was seen"), *fallback(lab, "AMP207", before, after)]
    for step in steps:
        assert step.norm is not None
        assert step.max_norm is not None
        if step.norm > step.max_norm * (1 + CLOSE):
            return [Check(name, False, f"step {step.index + 1}: norm {step.norm:.6g}, bound {step.max_norm:g}")]
    bound = max(step.max_norm for step in steps if step.max_norm is not None)
    longest = max((step.norm or 0.0 for step in lab.trace(before, AMP_OFF).steps), default=0.0)
    return [Check(name, True, f"{len(steps)} steps, bound {bound:g}; before the fix up to {longest:.6g}")]


def _bounded_by_value(steps: list[Step]) -> Check:
    name = "no element at the step is beyond the bound"
    clipped = [step for step in steps if step.max_value is not None and step.largest is not None]
    for step in clipped:
        assert step.largest is not None
        assert step.max_value is not None
        if step.largest > step.max_value * (1 + CLOSE):
            return Check(name, False, f"step {step.index + 1}: {step.largest:.6g}, bound {step.max_value:g}")
    return Check(name, bool(clipped) or None, f"{len(clipped)} steps")


def _trains(lab: Laboratory, before: str, after: str) -> list[Check]:
    """More steps are applied than before, or the same with a gradient that is not zero."""
    name = "steps train"
    left, right = (applied(lab.trace(variant).steps) for variant in (before, after))
    moved = [sum(1 for step in steps if step.norm) for steps in (left, right)]
    detail = f"{moved[0]} steps with a gradient before, {moved[1]} after"
    return [Check(name, moved[1] > moved[0] or None, detail)]


def _one_scaler(lab: Laboratory, before: str, after: str) -> list[Check]:
    """One scaler lives through the run."""
    counts = [_scalers(lab.trace(variant)) for variant in (before, after)]
    detail = f"{counts[0]} scalers before, {counts[1]} after"
    return [Check("one scaler", counts[1] < counts[0] or None, detail)]


def _scalers(trace: Trace) -> int:
    return sum(event.kind is Kind.SCALER and event.data["is_enabled"] for event in trace.events)


def _rate_follows_steps(lab: Laboratory, before: str, after: str) -> list[Check]:
    """The learning rate is a function of the number of applied steps, whatever was skipped."""
    name = "the learning rate follows applied steps"
    number = oracles.overflow_number(lab.trace(after, AS_IS))
    usual, shaken = lab.trace(after), lab.trace(after, overflow_at(number))
    rates = [[step.learning_rate for step in applied(trace.steps)] for trace in (usual, shaken)]
    for index, (one, other) in enumerate(zip(*rates, strict=False), 1):
        if one != other:
            return [Check(name, False, f"applied step {index}: {one:g} without, {other:g} after an overflow")]
    skipped = Counter(step.is_applied for step in shaken.steps)[False]
    return [Check(name, bool(skipped) or None, f"{len(rates[1])} applied, {skipped} skipped")]


def _fresh_weights(lab: Laboratory, before: str, after: str) -> list[Check]:
    """With AMP off nothing changes; with AMP on the stale weight copies are gone."""
    off = first_difference(lab.trace(before, AMP_OFF), lab.trace(after, AMP_OFF))
    return [
        Check("AMP off, before = after", off is None, str(off or "bitwise equal")),
        *fallback(lab, "AMP402", before, after),
    ]


INTENDED: dict[str, Oracle] = {
    "AMP207": _bounded,
    "AMP208": _one_scaler,
    "AMP213": _trains,
    "AMP218": _trains,
    "AMP301": _sum_before,
    "AMP304": _whole_group,
    "AMP306": _share_before,
    "AMP402": _fresh_weights,
    "AMP601": _rate_follows_steps,
}
