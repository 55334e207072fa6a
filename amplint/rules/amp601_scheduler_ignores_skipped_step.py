"""A learning-rate scheduler is stepped with every scaled optimizer step, also with those that the scaler skips.

## What it does

Finds `scheduler.step()` that runs once for each `scaler.step(optimizer)` and that nothing ties to whether the step
was taken.

## Why it matters

`GradScaler.step` leaves the optimizer alone when a gradient is inf or NaN, which happens in the first iterations
while the scale calibrates and now and then later. The scheduler moves on all the same, so the learning rate is a
function of attempted steps, not of steps. With 10 of 24 steps skipped, a short run ended at a distance of 0.84 from
its float32 twin, against 0.47 when the schedule counted real steps. If the very first step is skipped, torch warns:
"Detected call of `lr_scheduler.step()` before `optimizer.step()`". For a long run with a handful of skips the effect
is small, so this rule is opt-in.

## Where it reports

At the scheduler's step; the optimizer step beside it is a note. Silent for schedulers that are stepped once an epoch,
for a step with an argument (a metric or an epoch), for `ReduceLROnPlateau`, where a comparison of the scale before and
after guards the step, where it is left out when the norm of the gradients is not finite, and where the scaler is
switched off for good.

## Example

```python
scaler.step(optimizer)
scaler.update()
scheduler.step()
```

A shrunken scale says that the step was skipped; a grown one does not:

```python
scale = scaler.get_scale()
scaler.step(optimizer)
scaler.update()
if scaler.get_scale() >= scale:
    scheduler.step()
```

A guard added to a run with a fixed number of scheduler steps ends the schedule a few steps late, so no fix is
offered.

## References

* https://github.com/pytorch/pytorch/issues/55585
* https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.step
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP601",
    name="scheduler-ignores-skipped-step",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scheduler steps that are taken whether or not the optimizer step was."""
    for blind in facts.schedulers.blind_steps():
        path = blind.step.facts.path if blind.step.facts is not facts else None
        note = Note(blind.step.call.span, "may be skipped here when a gradient overflows", path)
        message = "the scheduler is stepped even when the scaler skipped the optimizer step; ask whether the scale fell"
        yield RULE.finding(facts, blind.call, message, notes=(note,))
