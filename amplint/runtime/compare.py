"""Compares two traces number by number; knows what is equal, not what should be."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amplint.runtime.trace import Step, Trace

PARAMETERS = ("is_applied", "loss", "norm", "seen_norm", "parameters")
"""What a correct program computes alike at every scale."""

EVERYTHING = (*PARAMETERS, "has_overflow", "scale", "learning_rate")
"""What two runs of the same program have in common."""

SUBNORMAL = 1e-33
"""Gradients below this are so near the end of float32 that scaling them is not exact any more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first number in which two runs differ: at which step (from 1), and the two values."""

    step: int
    quantity: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"step {self.step}: {self.quantity} {self.left} and {self.right}"


def _is_same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right):
        return True
    return left == right


def first_difference(left: Trace, right: Trace, quantities: Iterable[str] = PARAMETERS) -> Difference | None:
    """Where two runs part, bit for bit; a quantity that one of them did not record is left out."""
    names = tuple(quantities)
    for number, (one, other) in enumerate(zip(left.steps, right.steps, strict=False), 1):
        for name in names:
            a, b = getattr(one, name), getattr(other, name)
            if a is not None and b is not None and not _is_same(a, b):
                return Difference(number, _WORDS.get(name, name), _show(a), _show(b))
    if len(left.steps) != len(right.steps):
        shorter = min(len(left.steps), len(right.steps))
        return Difference(shorter + 1, "number of steps", str(len(left.steps)), str(len(right.steps)))
    return _last_difference(left, right) if "parameters" in names else None


def _last_difference(left: Trace, right: Trace) -> Difference | None:
    """Where the parameters part that two runs leave behind."""
    ours, theirs = (trace.summary.get("parameters", {}) for trace in (left, right))
    for number in ours.keys() & theirs.keys():
        if ours[number] != theirs[number]:
            return Difference(len(left.steps), "parameters at the end (hash)", ours[number], theirs[number])
    return None


_WORDS = {
    "is_applied": "step applied",
    "norm": "gradient norm at the step",
    "seen_norm": "gradient norm seen by the clip",
    "parameters": "parameters (hash)",
    "has_overflow": "overflow",
    "learning_rate": "learning rate",
}


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def has_subnormals(traces: Iterable[Trace], until: int) -> bool:
    """Whether a gradient up to this step (from 1) was too small for scaling to be exact."""
    return any(
        step.smallest is not None and step.smallest < SUBNORMAL for trace in traces for step in trace.steps[:until]
    )


def loss_distance(left: Trace, right: Trace) -> float | None:
    """The largest distance between two loss curves, relative to the range that the second one spans.

    A curve that hardly moves counts as spanning a tenth of its value: rounding must not look large beside it.
    """
    pairs = [
        (a.loss, b.loss)
        for a, b in zip(left.steps, right.steps, strict=False)
        if a.loss is not None and b.loss is not None
    ]
    if not pairs:
        return None
    if not all(math.isfinite(a) and math.isfinite(b) for a, b in pairs):
        return math.inf
    reference = [b for _, b in pairs]
    span = max(max(reference) - min(reference), max(map(abs, reference)) * 0.1, 1e-12)
    return max(abs(a - b) for a, b in pairs) / span


def applied(steps: Sequence[Step]) -> list[Step]:
    """The steps that changed parameters."""
    return [step for step in steps if step.is_applied]
