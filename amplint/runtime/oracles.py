"""The questions that an experiment asks of a program: one function a question, each answers with a Check.

Knows what a correct program cannot notice; knows nothing of rules.
"""

import math
from collections import Counter

from amplint.runtime.compare import EVERYTHING, Difference, first_difference, has_subnormals, loss_distance
from amplint.runtime.job import AMP_OFF, AS_IS, Detail
from amplint.runtime.laboratory import SCALES, Laboratory, overflow_at
from amplint.runtime.ranks import disagreements
from amplint.runtime.trace import Ending, Step, Trace
from amplint.runtime.verdict import Check

_SAME_DRAWS = 0.01
"""Relative distance of the first loss from float32's that half precision itself explains."""


def ran(lab: Laboratory, variant: str) -> Check:
    """The program comes to a proper end and steps."""
    trace = lab.trace(variant)
    if not trace.outcome.is_clean:
        status = f" {trace.outcome.status}" if trace.outcome.ending is Ending.EXITED else ""
        return Check("runs", False, trace.outcome.error or f"{trace.outcome.ending}{status}")
    return Check("runs", bool(trace.steps) or None, "" if trace.steps else "no optimizer step was made")


def same_trace(lab: Laboratory, before: str, after: str) -> Check:
    """Two variants compute the same numbers, bit for bit, AMP as it is."""
    name = "the same trace"
    left, right = lab.trace(before), lab.trace(after)
    if left.outcome.error != right.outcome.error:
        side, trace = ("after", right) if left.outcome.is_clean else ("before", left)
        decided = False if side == "after" else None
        return Check(name, decided, f"{side} the fix: {trace.outcome.error or trace.outcome.ending}")
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


def one_step_a_backward(lab: Laboratory, before: str, after: str) -> Check | None:
    """Where a fix takes away a second step on the same gradients, AMP off cannot be the same program before and after.

    None where no step was made without a backward of its own.
    """
    idle = [sum(step.backwards == 0 for step in lab.trace(variant, AMP_OFF).steps) for variant in (before, after)]
    if not idle[0]:
        return None
    detail = f"{idle[0]} steps without a backward of their own before, {idle[1]} after"
    return Check("one step for each backward", idle[1] == 0, detail)


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
    usual = lab.trace(variant)
    number = overflow_number(usual)
    if not number:
        return Check(name, True, "no enabled scaler, or no step that it let through")
    trace = lab.trace(variant, overflow_at(number))
    if not trace.outcome.is_clean:
        return Check(name, False, f"overflow in scale() number {number}: {trace.outcome.error}")
    return _judge_skips(name, usual, trace)


def overflow_number(trace: Trace) -> int:
    """Which `scale()` call (from 1) to spoil: an early one of an applied step, but not the first; 0 for none."""
    calls = [step.scales for step in trace.steps if step.is_applied and step.scales]
    return next((count for count in calls if count > 1), calls[-1] if calls else 0)


def _judge_skips(name: str, usual: Trace, trace: Trace) -> Check:
    infinite = next((s for s in trace.steps if s.is_applied and s.norm is not None and not math.isfinite(s.norm)), None)
    if infinite is not None:
        return Check(name, False, f"step {infinite.index + 1} applied a gradient of norm {infinite.norm}")
    pairs = list(zip(usual.steps, trace.steps, strict=False))
    first = next((n for n, (one, other) in enumerate(pairs) if one.is_applied and not other.is_applied), None)
    if first is None:
        return Check(name, False, "no step was skipped")
    again = [other for one, other in pairs[first + 1 :] if other.optimizer == pairs[first][1].optimizer]
    if again and not again[0].is_applied and _was_applied(usual, again[0]):
        return Check(name, False, f"step {again[0].index + 1} was skipped too")
    return Check(name, True, f"step {first + 1} skipped, {len(trace.steps)} steps in all")


def _was_applied(usual: Trace, step: Step) -> bool:
    return usual.steps[step.index].is_applied


def ranks_agree(lab: Laboratory, variant: str) -> list[Check]:
    """All processes apply the same steps at the same scales, also where one of them alone meets an overflow."""
    if lab.conditions.processes == 1:
        return []
    number = overflow_number(lab.trace(variant))
    treatments = [AS_IS, overflow_at(number)] if number else [AS_IS]
    checks = []
    for treatment in treatments:
        traces = lab.traces(variant, treatment)
        parted = disagreements(traces)
        detail = parted[0].message if parted else f"{len(traces)} ranks, {len(traces[0].steps)} steps"
        name = "ranks agree" if treatment == AS_IS else "ranks agree on an overflow of rank 0"
        checks.append(Check(name, not parted, detail))
    return checks


def gradient_at_clip(lab: Laboratory, variant: str, tolerance: float = 0.05) -> Check:
    """The norm that the clip sees in the first step is the float32 run's.

    Where the losses differ already, the program draws other random numbers in half precision than in float32
    (`torch.randn_like` of an activation): only a factor that no draw explains is held against it then.
    """
    name = "the clip sees true gradients"
    amp, plain = lab.trace(variant), lab.trace(variant, AMP_OFF)
    if not amp.steps or not plain.steps or not amp.steps[0].is_applied:
        return Check(name, True, "no step to compare")
    seen, true = amp.steps[0].seen_norm, plain.steps[0].seen_norm
    if seen is None or true is None:
        return Check(name, True, "nothing is clipped")
    detail = f"step 1: {seen:.6g}, float32 {true:.6g}"
    ours, theirs = amp.steps[0].loss, plain.steps[0].loss
    if ours is not None and theirs is not None and not math.isclose(ours, theirs, rel_tol=_SAME_DRAWS):
        detail += f" (other random numbers: loss {ours:.6g}, float32 {theirs:.6g})"
        tolerance = 0.5
    return Check(name, math.isclose(seen, true, rel_tol=tolerance), detail)


def has_half_operations(lab: Laboratory, variant: str) -> Check:
    """Half precision is computed with somewhere in the program."""
    counted: Counter[str] = Counter()
    for step in lab.run(variant, AS_IS, Detail.OPERATIONS).trace.steps:
        counted.update(step.dtypes)
    half = sum(count for name, count in counted.items() if name.endswith(("float16", "bfloat16")))
    total = sum(counted.values())
    if not total:
        return Check("half precision", None, "no operation was counted")
    return Check("half precision", half > 0, f"{half} of {total} floating-point operations")


BOUNDS = {"float16": 0.05, "bfloat16": 0.1}
"""Distance of the loss curve from float32's, relative to the range of the latter, that a correct run stays within."""


def close_to_float32(lab: Laboratory, variant: str, before: str) -> Check:
    """The loss stays near that of the same program in float32.

    Where it was as far before the fix, the program is one that magnifies rounding: that decides nothing.
    """
    name = "close to float32"
    amp, plain = lab.trace(variant), lab.trace(variant, AMP_OFF)
    distance = loss_distance(amp, plain)
    if distance is None:
        return Check(name, None, "no loss to compare")
    has_bfloat16 = any(event.data.get("dtype") == "bfloat16" for event in amp.events)
    bound = BOUNDS["bfloat16" if has_bfloat16 else "float16"]
    detail = f"loss curves {distance:.2g} apart, {bound:g} allowed"
    if distance <= bound:
        return Check(name, True, detail)
    was = loss_distance(lab.trace(before), lab.trace(before, AMP_OFF))
    is_as_far = was is not None and was >= distance / 2
    return Check(name, None if is_as_far else False, f"{detail}, {was:.2g} before" if is_as_far else detail)
