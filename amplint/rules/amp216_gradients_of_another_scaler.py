"""Gradients meet a scaler, or other gradients, with a different scale.

## What it does

Finds a step through a scaler that did not scale the loss, and one clip over unscaled gradients of one optimizer and
scaled gradients of another.

## Why it matters

A step divides by the wrong scale. A clip over both kinds measures the sum of true and of scaled norms: with two
optimizers and `unscale_` of one, the other stopped learning.

## Where it reports

At the step or the clip, with the backward as a note.

## Example

```python
scaler.scale(loss).backward()
scaler.unscale_(optimizer_a)
torch.nn.utils.clip_grad_norm_([*a.parameters(), *b.parameters()], 1.0)
scaler.step(optimizer_a)
scaler.step(optimizer_b)
scaler.update()
```

## Fix

Inserts the missing `unscale_` before a clip over the gradients of several optimizers. None where two scalers meet:
which of them was meant, only the author knows.

## Fix safety

Unsafe: the clip sees other gradients than before.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#working-with-multiple-models-losses-and-optimizers
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import DefectKind
from amplint.knowledge.protocol import Reason
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_repairs import unscale_before
from amplint.rules.protocol_report import optimizer_name, report, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP216",
    name="gradients-of-another-scaler",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report gradients that meet another scale."""
    for defect in facts.defects.of(DefectKind.OTHER_SCALER):
        optimizer = optimizer_name(defect)
        is_clip = defect.error is not None and defect.error.reason is Reason.CLIP_PARTLY_SCALED
        message = f"`{scaler_name(defect)}` steps `{optimizer}`, whose gradients carry the scale of another scaler"
        if is_clip:
            message = f"clips the unscaled gradients of one optimizer together with the scaled ones of `{optimizer}`"
        yield report(RULE, defect, message, fix=unscale_before(defect) if is_clip else None)
