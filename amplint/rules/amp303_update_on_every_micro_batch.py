"""`update` runs for every micro-batch, while the optimizer steps once for a group of them.

## What it does

Finds `scaler.update()` outside the test that lets the optimizer step at group boundaries only, or that chooses, of
several optimizers, those whose group is complete.

## Why it matters

Without an inf check `update` raises `AssertionError: No inf checks were recorded prior to update.` With an `unscale_`
before, older micro-batches are divided by the scale again each time, so that only the last one counts.

## Where it reports

At the update, with the step as a note.

## Example

```python
for i, (images, labels) in enumerate(loader):
    scaler.scale(criterion(model(images), labels) / 4).backward()
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        optimizer.zero_grad()
    scaler.update()
```

## Fix

Moves the update behind the step, or deletes it where another stands there. None where several optimizers wait, each for
its own group.

## Fix safety

Unsafe: it changes when the scale grows.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, Fix
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_repairs import delete, move_after
from amplint.rules.protocol_report import report, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP303",
    name="update-on-every-micro-batch",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report updates that do not wait for the end of a group."""
    for defect in facts.defects.of(DefectKind.MICRO_UPDATE):
        scaler = scaler_name(defect)
        message = f"`{scaler}.update()` runs for every micro-batch, but the optimizer steps once for a group"
        yield report(RULE, defect, message, missed="stepped only here", fix=_fix(defect))


def _fix(defect: Defect) -> Fix | None:
    if defect.error is None:  # Some of several optimizers wait: there is no place that is right for all of them.
        return None
    steps = [s for s in defect.reading.steps_of(EventKind.STEP) if defect.reading.are_together(s, defect.site)]
    if len(steps) != 1:
        return None
    updates = [s for s in defect.reading.steps_of(EventKind.UPDATE) if defect.reading.are_together(s, defect.site)]
    if any(update != defect.site and update.node.span > steps[0].node.span for update in updates):
        return delete(defect, defect.site, "delete this update: another follows the step", Applicability.UNSAFE)
    return move_after(defect, defect.site, steps[0], Applicability.UNSAFE)
