"""Gradients are clipped where the clip can have no effect: behind the step, or before any backward.

## What it does

Finds a clip that every path reaches after the optimizer's step, or with gradients that were just zeroed.

## Why it matters

Nothing is clipped. At a threshold of 0.05 the weights ended 9.2 path lengths away from where clipping leads. Nothing
warns.

## Where it reports

At the clip, with the step as a note. A norm that is only measured (`max_norm` of infinity) after the step is right:
`step` leaves the gradients unscaled. Silent where gradients are set by hand.

## Example

```python
scaler.scale(loss).backward()
scaler.step(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.update()
```

## Fix

Moves a clip that comes too late before the step, and inserts the `unscale_` that it needs there. None for a clip that
comes too early: where its backward is, only its author knows.

## Fix safety

Unsafe: the run begins to clip.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import DefectKind
from amplint.knowledge.protocol import Reason
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_moves import before_step
from amplint.rules.protocol_report import optimizer_name, report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP207",
    name="clip-outside-the-step",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report clips that come too early or too late."""
    for defect in facts.defects.of(DefectKind.CLIP_OUTSIDE):
        is_late = defect.error is not None and defect.error.reason is Reason.CLIP_AFTER_STEP
        optimizer = optimizer_name(defect)
        late = f"clips after the step of `{optimizer}`: the step used gradients that were not clipped"
        message = (
            late if is_late else "clips before any backward pass: there are no gradients yet; clip behind the backward"
        )
        yield report(RULE, defect, message, fix=before_step(defect) if is_late else None)
