"""Gradients are zeroed between the backward pass and the step.

## What it does

Finds a `zero_grad` on a path from a backward to the step that should have used its gradients, without another
backward between.

## Why it matters

The step raises `AssertionError: No inf checks were recorded for this optimizer.`, or, with `unscale_` before,
silently trains nothing.

## Where it reports

At the `zero_grad`, with backward and step as notes.

## Example

```python
scaler.scale(loss).backward()
optimizer.zero_grad()
scaler.step(optimizer)
scaler.update()
```

## Fix

Moves the `zero_grad` behind the step.

## Fix safety

Unsafe: it may have been meant to stand before the backward.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Attribute, Call, Node
from amplint.rules.protocol_repairs import (
    move_after,
)
from amplint.rules.protocol_report import optimizer_code, optimizer_name, report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP218",
    name="zero-grad-before-step",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report zero_grad calls that throw gradients away right before their step."""
    for defect in facts.defects.of(DefectKind.ZERO_BEFORE_STEP):
        if not _is_certain(defect) or _is_deliberate(defect):
            continue
        fix = move_after(defect, defect.site, defect.after, Applicability.UNSAFE) if defect.after is not None else None
        message = f"the gradients of `{optimizer_name(defect)}` are zeroed before the step that should use them"
        yield report(RULE, defect, message, missed="steps without gradients", fix=fix)


def _is_certain(defect: Defect) -> bool:
    """Whether all gradients go, and no backward that may not run, such as one in a loop, stands before the step."""
    zero, after = defect.place, defect.after
    if not (isinstance(zero, Call) and isinstance(zero.func, Attribute) and zero.func.attr == "zero_grad"):
        return False
    if after is None or after.frame != defect.site.frame:
        return True
    backwards = defect.reading.steps_of(None, EventKind.SCALED_BACKWARD, EventKind.PLAIN_BACKWARD)
    return not any(step.frame == after.frame and zero.span < step.node.span < after.node.span for step in backwards)


def _is_deliberate(defect: Defect) -> bool:
    """Whether an arm drops this batch on purpose: its optimizer also steps where the arm's tests did not lead."""
    guards, optimizer = defect.reading.guards, optimizer_code(defect)
    arm = guards.answers(defect.site)
    steps = (step for step in defect.reading.steps_of(EventKind.STEP) if _is_of(step.node, optimizer))
    return any(not arm <= guards.answers(step) for step in steps)


def _is_of(call: Node, optimizer: str | None) -> bool:
    return isinstance(call, Call) and bool(call.args) and spelled(call.args[0].value) == optimizer
