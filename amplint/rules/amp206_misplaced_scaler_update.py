"""`update` runs while a step is still to come.

## What it does

Finds `scaler.update()` between a scaled backward and the step that uses its gradients: before any step, or between
the steps of two optimizers that one backward serves.

## Why it matters

Without an inf check before it `update` raises `AssertionError: No inf checks were recorded prior to update.` After
`unscale_` it is silent, and the step divides the gradients a second time. Between two steps the second optimizer is
divided by another scale whenever that update changed it: twice or half the gradient, now and then, and the growth
counter counts twice.

## Where it reports

At the update; the step that comes too late is a note. The complete rounds of a GAN (scale, backward, step, update for
each optimizer in turn) are right.

## Example

```python
scaler.scale(loss).backward()
scaler.step(optimizer_a)
scaler.update()
scaler.step(optimizer_b)
scaler.update()
```

## Fix

Moves the update behind the step; where another update follows the step, deletes this one. An update that follows in an
arm alone comes out of it, so that the runs without that arm keep theirs.

## Fix safety

Safe with one scaler and one optimizer, where torch would raise; unsafe otherwise. Not offered where something steps
before the update that is not known to be an optimizer: its gradients may be the scaled ones.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#working-with-multiple-models-losses-and-optimizers
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind, Reason
from amplint.model.edit import Applicability, DedentTail, DeleteStatement, Fix, InsertAfter, Repair
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Attribute, ExprStmt, For
from amplint.model.walks import walk
from amplint.rules.protocol_repairs import delete, is_element, is_sole, move_after, move_out, repair, statement_of
from amplint.rules.protocol_report import report, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP206",
    name="misplaced-scaler-update",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)
_ANOTHER = "delete this update: another follows the step"


def check(facts: Facts) -> Iterator[Finding]:
    """Report updates that come before a step that still needs the old scale."""
    for defect in facts.defects.of(DefectKind.MISPLACED_UPDATE):
        scaler = scaler_name(defect)
        is_early = defect.error is not None and defect.error.reason is Reason.UPDATE_WITHOUT_RECORD
        message = f"`{scaler}.update()` runs before the step whose gradients were scaled"
        if is_early:
            message = f"`{scaler}.update()` runs before any step or unscale_ has looked for infs"
        fix = None if is_early and _may_be_stepped(defect) else _fix(defect)
        yield report(RULE, defect, message, missed="stepped only here", fix=fix)


def _may_be_stepped(defect: Defect) -> bool:
    """Whether something that is not known to be an optimizer steps above the update: its gradients may be scaled."""
    index = defect.home.index
    known = {id(call) for step, call in defect.reading.scene.calls if defect.reading.events.of(step)}
    return any(
        isinstance(call.func, Attribute) and call.func.attr == "step" and id(call) not in known
        for call in index.calls
        if call.span < defect.place.span and index.function(call) is index.function(defect.place)
    )


def _fix(defect: Defect) -> Fix | None:
    steps = [s for s in defect.reading.steps_of(EventKind.STEP) if defect.reading.are_together(s, defect.site)]
    behind = [step for step in steps if _may_follow(defect, step)]
    updates = [s for s in defect.reading.steps_of(EventKind.UPDATE) if defect.reading.are_together(s, defect.site)]
    updates = [update for update in updates if _may_follow(defect, update)]
    if not behind:
        return _behind_loop(defect, steps) if not updates else None
    last = max(behind, key=lambda step: step.node.span)
    later = [update for update in updates if update.node.span > last.node.span]
    if later:
        return move_out(defect, later[0], last) or delete(defect, defect.site, _ANOTHER, Applicability.UNSAFE)
    applicability = Applicability.SAFE if is_sole(defect) and len(behind) == 1 else Applicability.UNSAFE
    return move_after(defect, defect.site, last, applicability)


def _may_follow(defect: Defect, step: Step) -> bool:
    """Whether a step stands behind the update, and not in another arm of an `if`."""
    return step.node.span > defect.place.span and not are_exclusive(defect.home, defect.place, step.node)


def _behind_loop(defect: Defect, steps: list[Step]) -> Fix | None:
    """The update moved behind the loop that steps one optimizer in each turn, where gradients come from before it."""
    update = statement_of(defect, defect.site)
    loop = defect.home.index.parents.get(update) if update is not None else None
    if not isinstance(loop, For) or not isinstance(update, ExprStmt) or not is_element(defect):
        return None
    inside = set(walk(loop))
    is_left = any(step.node in inside for step in defect.reading.steps_of(None))
    if is_left or update not in loop.body or loop.orelse or not any(step.node in inside for step in steps):
        return None
    code = spelled(update.value)
    title = f"move `{code}` behind the loop of line {loop.span.line}"
    moved: list[Repair] = [DedentTail(update.span)]
    if update is not loop.body[-1]:
        moved = [DeleteStatement(update.span), InsertAfter(loop.span, code)]
    return repair(title, Applicability.UNSAFE, *moved) if code else None
