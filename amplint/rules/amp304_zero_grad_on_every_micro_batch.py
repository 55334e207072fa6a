"""Gradients are zeroed for every micro-batch, while the optimizer steps once for a group of them.

## What it does

Finds `zero_grad` outside the test that lets the optimizer step at group boundaries only, and in a loop over the
micro-batches of a group whose step stands behind the loop.

## Why it matters

Only the last micro-batch of each group counts, divided by the group's length. Nothing warns.

## Where it reports

At the `zero_grad`, with the step as a note. A `zero_grad` under a condition of its own, for a batch that is given up,
is right.

## Example

```python
for i, (images, labels) in enumerate(loader):
    optimizer.zero_grad()
    scaler.scale(criterion(model(images), labels) / 4).backward()
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
```

## Fix

Moves the `zero_grad` behind the update, or behind the step where the update is elsewhere. None where another branch
steps as well, as that without a scaler.

## Fix safety

Unsafe: it makes the effective batch larger, as was meant.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from collections.abc import Iterator

from amplint.facts.accumulation.zeroed import zeroed_turns
from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, Fix
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_repairs import delete, is_passed, move_after, place_behind
from amplint.rules.protocol_report import report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP304",
    name="zero-grad-on-every-micro-batch",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report zero_grad calls that do not wait for the end of a group."""
    for defect in (*facts.defects.of(DefectKind.MICRO_ZERO), *zeroed_turns(facts)):
        message = "gradients are zeroed for every micro-batch, but the optimizer steps once for a group"
        yield report(RULE, defect, message, missed="stepped only here", fix=_fix(defect))


def _fix(defect: Defect) -> Fix | None:
    step, reading = defect.after, defect.reading
    if step is None:
        return None
    updates = [s for s in reading.steps_of(EventKind.UPDATE) if reading.are_together(s, step)]
    behind = [update for update in updates if update.node.span > step.node.span]
    target = min(behind, key=lambda update: update.node.span, default=step)
    anchor = place_behind(defect, defect.site, target)
    if anchor is None or not all(is_passed(defect, anchor, each) for each in _others(defect)):
        return None
    if any(is_passed(defect, anchor, each) and each.node.span > step.node.span for each in _zeroing(defect)):
        return delete(defect, defect.site, "delete it: the gradients are zeroed behind the step", Applicability.UNSAFE)
    return move_after(defect, defect.site, target, Applicability.UNSAFE)


def _others(defect: Defect) -> list[Step]:
    """The steps of the same function, which on other paths need the zero_grad as well."""
    steps = defect.reading.steps_of(EventKind.STEP, EventKind.DIRECT_STEP)
    return [each for each in steps if defect.reading.are_together(defect.site, each)]


def _zeroing(defect: Defect) -> list[Step]:
    """The other calls of zero_grad in the same function."""
    steps = defect.reading.steps_of(EventKind.ZERO)
    return [each for each in steps if each != defect.site and defect.reading.are_together(defect.site, each)]
