"""The scaler steps again although `update` was not called since its last step.

## What it does

Finds a `scaler.step(optimizer)` after which a path comes to the next `step` or `unscale_` of the same optimizer
without a `scaler.update()` between; and a method that trains one batch with a scaler of its own object, which nothing
in sight ever updates.

## Why it matters

The second step raises `RuntimeError: step() has already been called since the last update().`, with an explicit
`unscale_` `unscale_() is being called after step().` Where only one step ever runs, the scale is frozen at its first
value.

## Where it reports

At the step after which the update is missed; the call that fails is a note. Several optimizers that share one update
at the end of the iteration are right.

## Example

```python
for images, labels in loader:
    optimizer.zero_grad()
    scaler.scale(criterion(model(images), labels)).backward()
    scaler.step(optimizer)
```

## Fix

Inserts `scaler.update()` behind the last step of the iteration, and behind the loop of a step of several optimizers
that share the scaler, where the function has no update yet.

## Fix safety

Safe with one scaler and one step of it; unsafe with several steps.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.guards import common_loop, is_above, loop_around
from amplint.facts.protocol.places import is_taken
from amplint.facts.protocol.roots import goes_through_optimizers
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, Fix, InsertAfter
from amplint.model.finding import Finding, Severity
from amplint.model.tree import For
from amplint.rules.protocol_repairs import insert_after, is_sole, repair, statement_of
from amplint.rules.protocol_report import report, scaler_code, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP202",
    name="missing-scaler-update",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report steps that are followed by the next round without an update."""
    for defect in facts.defects.of(DefectKind.NO_UPDATE):
        scaler = scaler_name(defect)
        message = f"`{scaler}.update()` is missing after this step"
        yield report(
            RULE, defect, message, missed="fails here, in the next iteration", fix=_fix(defect, scaler_code(defect))
        )


def _fix(defect: Defect, scaler: str) -> Fix | None:
    """The update goes behind the last step of the turn, and behind a loop over optimizers."""
    steps = _steps(defect)
    last = next((s for s in steps if not any(is_above(defect.reading.scene, s, other) for other in steps)), None)
    updates = defect.reading.steps_of(EventKind.UPDATE)
    if last is None or not scaler or any(defect.reading.are_together(update, last) for update in updates):
        return None
    applicability = Applicability.SAFE if len(steps) == 1 and is_sole(defect) else Applicability.UNSAFE
    code = f"{scaler}.update()"
    title = f"insert `{code}` behind line {last.node.span.end_line}"
    loop = next(iter(defect.home.index.loops(last.node)), None) if statement_of(defect, last) is not None else None
    if isinstance(loop, For) and goes_through_optimizers(loop) and not _is_of_each(defect):
        # One update serves the steps of all turns.
        title = f"insert `{code}` behind line {loop.span.end_line}"
        return repair(title, Applicability.UNSAFE, InsertAfter(loop.span, code))
    return insert_after(defect, last, code, title, applicability)


def _steps(defect: Defect) -> list[Step]:
    """The steps of the scaler in one turn that run whenever the step at fault does, in the file of the defect."""
    reading, scene = defect.reading, defect.reading.scene
    loop = loop_around(scene, defect.site)
    answers = reading.guards.answers
    return [
        step
        for step in reading.steps_of(EventKind.STEP, scaler=defect.error.scaler if defect.error is not None else None)
        if scene.homes[step.frame] is defect.home and common_loop(scene, defect.site, step) is loop
        if answers(step) <= answers(defect.site)
    ]


def _is_of_each(defect: Defect) -> bool:
    """Whether each turn of a loop has a scaler of its own."""
    scaler = defect.error.scaler if defect.error is not None else None
    return isinstance(scaler, tuple) and is_taken(scaler)
