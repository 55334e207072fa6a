"""Gradients are clipped while they are still multiplied by the loss scale.

## What it does

Finds `clip_grad_norm_`, `clip_grad_value_`, `clip_grads_with_norm_`, their old and aliased names, and hand-written
clipping of `.grad`, on a path where the gradients come from a scaled loss and no `unscale_` of their optimizer came
between.

## Why it matters

The clip sees a norm that is thousands of times too large and cuts the gradients down to `max_norm`; the step then
divides them by the scale once more. In a small run with scale 4096 the norm seen was 2559 instead of 0.625, and SGD
stopped learning. With Adam the scale of the gradients cancels, so the run looks fine while the threshold means
nothing. Nothing warns.

## Where it reports

At the clip; where a helper clips, at the call of the helper in the function that deals with the scaler. Notes show
the scaled backward and the step that unscales too late. Clips whose threshold is multiplied by `get_scale()` are left
alone.

## Example

```python
scaler.scale(loss).backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
```

## Fix

Inserts `scaler.unscale_(optimizer)` before the clip, or before the loop over parameters in which it stands. Where an
`unscale_` stands behind the arm of the clip, that one is moved before the arm.

## Fix safety

Safe where every path comes to the clip with scaled gradients and there is one scaler and one optimizer. Unsafe with
several, and where the optimizer is fused and torch below 2.1 has to be supported. Not offered where the clip runs for
every micro-batch of a group, for `unscale_` may run only once.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Call
from amplint.rules.protocol_moves import unscale_in_time
from amplint.rules.protocol_report import report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP201",
    name="clip-of-scaled-gradients",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report clips of gradients that are still scaled."""
    for defect in facts.defects.of(DefectKind.CLIP_SCALED):
        message = f"`{_clip(defect)}` clips gradients that are still multiplied by the loss scale"
        yield report(RULE, defect, message, missed="unscaled only here", fix=unscale_in_time(defect))


def _clip(defect: Defect) -> str:
    name = spelled(defect.place.func) if isinstance(defect.place, Call) else ""
    return name.rpartition(".")[2] or "this"
