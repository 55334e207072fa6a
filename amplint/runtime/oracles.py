"""The questions that an experiment asks of a program: one function a question, each answers with a Check.

Knows what a correct program cannot notice; knows nothing of rules.
"""

import math
from collections import Counter

from amplint.runtime.compare import EVERYTHING, Difference, first_difference, has_subnormals
from amplint.runtime.job import AMP_OFF, AS_IS
from amplint.runtime.laboratory import SCALES, Laboratory, overflow_at
from amplint.runtime.trace import Kind, Trace
from amplint.runtime.verdict import Check

OVERFLOWS = (2, 6)
"""Which `scale()` call gets infinite gradients; the first that the run reaches."""


def ran(lab: Laboratory, variant: str) -> Check:
    """The program comes to a proper end and steps."""
    trace = lab.trace(variant)
    if not trace.outcome.is_clean:
        return Check("runs", False, trace.outcome.error or trace.outcome.ending)
    return Check("runs", bool(trace.steps) or None, "" if trace.steps else "no optimizer step was made")


def same_trace(lab: Laboratory, before: str, after: str) -> Check:
    """Two variants compute the same numbers, bit for bit, AMP as it is."""
    name = "the same trace"
    left, right = lab.trace(before), lab.trace(after)
    if not right.outcome.is_clean:
        return Check(name, False, f"after the fix: {right.outcome.error or right.outcome.ending}")
    if not left.outcome.is_clean:
        return Check(name, None, f"before the fix: {left.outcome.error or left.outcome.ending}")
    return _equal(name, left, right, EVERYTHING)


def same_without_amp(lab: Laboratory, before: str, after: str) -> Check:
    """With autocast and scaler off, two variants are the same program, bit for bit."""
    name = "AMP off, before = after"
    left, right = lab.trace(before, AMP_OFF), lab.trace(after, AMP_OFF)
    for side, trace in (("before", left), ("after", right)):
        if not trace.outcome.is_clean:
            decided = None if side == "before" else False
            return Check(name, decided, f"{side} the fix: {trace.outcome.error or trace.outcome.ending}")
    return _equal(name, left, right)


def _equal(name: str, left: Trace, right: Trace, quantities: tuple[str, ...] | None = None) -> Check:
    difference = first_difference(left, right) if quantities is None else first_difference(left, right, quantities)
    if difference is not None:
        return Check(name, False, str(difference))
    return Check(name, bool(left.steps) or None, f"{len(left.steps)} steps, bitwise equal")


def scale_invariant(lab: Laboratory, variant: str) -> Check:
    """With autocast off, the scaler off, two scales, a growing scale and the script's own give the same parameters.

    Multiplying float32 by a power of two is exact, so a correct program cannot notice it.
    """
    name = "indifferent to the scale"
    plain = lab.trace(variant, AMP_OFF)
    if not plain.outcome.is_clean:
        return Check(name, None, f"AMP off: {plain.outcome.error or plain.outcome.ending}")
    for treatment in SCALES:
        trace = lab.trace(variant, treatment)
        if not trace.outcome.is_clean:
            return Check(name, False, f"{treatment.name}: {trace.outcome.error or trace.outcome.ending}")
        difference = first_difference(plain, trace)
        if difference is not None:
            return _dependent(name, treatment.name, difference, plain, trace)
    return Check(name, bool(plain.steps) or None, f"{len(plain.steps)} steps, bitwise equal at every scale")


def _dependent(name: str, treatment: str, difference: Difference, plain: Trace, trace: Trace) -> Check:
    if has_subnormals((plain, trace), difference.step):
        return Check(name, None, f"{difference} (scaler off and {treatment}), with gradients near the end of float32")
    return Check(name, False, f"{difference} (scaler off and {treatment})")


def survives_overflow(lab: Laboratory, variant: str) -> Check:
    """Infinite gradients at one `scale()` call skip one step of each optimizer they reach, and leave finite numbers."""
    name = "skips an overflow"
    calls = sum(event.kind is Kind.SCALE for event in lab.trace(variant).events)
    if not calls:
        return Check(name, True, "no enabled scaler in the run")
    number = next((number for number in reversed(OVERFLOWS) if number < calls), 1)
    trace = lab.trace(variant, overflow_at(number))
    if not trace.outcome.is_clean:
        return Check(name, False, f"overflow in scale() number {number}: {trace.outcome.error}")
    return _judge_skips(name, lab.trace(variant, AS_IS), trace)


def _judge_skips(name: str, usual: Trace, trace: Trace) -> Check:
    infinite = next((s for s in trace.steps if s.is_applied and s.norm is not None and not math.isfinite(s.norm)), None)
    if infinite is not None:
        return Check(name, False, f"step {infinite.index + 1} applied a gradient of norm {infinite.norm}")
    by_itself = Counter(step.optimizer for step in usual.steps if not step.is_applied)
    skipped = Counter(step.optimizer for step in trace.steps if not step.is_applied)
    extra = {optimizer: skipped[optimizer] - by_itself[optimizer] for optimizer in skipped}
    if not any(extra.values()):
        return Check(name, False, "no step was skipped")
    too_many = max(extra.values())
    if too_many > 1:
        return Check(name, False, f"{too_many} steps of one optimizer were skipped")
    return Check(name, True, f"{sum(extra.values())} skipped, {len(trace.steps)} steps in all")


def gradient_at_clip(lab: Laboratory, variant: str, tolerance: float = 0.05) -> Check:
    """The norm that the clip sees in the first step is the float32 run's."""
    name = "the clip sees true gradients"
    amp, plain = lab.trace(variant), lab.trace(variant, AMP_OFF)
    if not amp.steps or not plain.steps or not amp.steps[0].is_applied:
        return Check(name, True, "no step to compare")
    seen, true = amp.steps[0].seen_norm, plain.steps[0].seen_norm
    if seen is None or true is None:
        return Check(name, True, "nothing is clipped")
    is_close = math.isclose(seen, true, rel_tol=tolerance)
    return Check(name, is_close, f"step 1: {seen:.6g}, float32 {true:.6g}")
