"""The optimizer steps by itself although its gradients come from a scaled loss.

## What it does

Finds `optimizer.step()` on a path where the gradients are scaled, or were unscaled by the scaler, or were used by
`scaler.step` already.

## Why it matters

Scaled gradients are applied as they are: one SGD step at scale 4096 moved the weights 368 times as far as a whole
run. Adam hides the factor, but nobody looks at the inf check any more, so the first overflow writes NaN into the
parameters. After `unscale_` the numbers are right until that first overflow. A later `update()` raises `No inf checks
were recorded prior to update.`

## Where it reports

At the direct step, with the scaled backward as a note. A plain step in the branch that does not use the scaler is
right, and a function that calculates with `get_scale()` itself is left alone.

## Example

```python
scaler.scale(loss).backward()
optimizer.step()
scaler.update()
```

## Fix

Replaces the step by `scaler.step(optimizer)`, and adds `scaler.update()` where there is none. A second step of the
same gradients is deleted.

## Fix safety

Unsafe: a tuned run may live on the mistake, which Adam hides. Not offered where paths without the scaler share the
step.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.places import is_taken
from amplint.knowledge.protocol import EventKind, Reason
from amplint.model.edit import Applicability, Fix, InsertAfter, Replace
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Call
from amplint.rules.protocol_repairs import (
    SCALED_BY_NOBODY,
    delete,
    met_gradients,
    repair,
    replace_call,
    statement_of,
)
from amplint.rules.protocol_report import optimizer_code, optimizer_name, report, scaler_code
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP203",
    name="optimizer-step-around-scaler",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report direct steps of optimizers whose gradients a scaler is responsible for."""
    for defect in facts.defects.of(DefectKind.STEP_AROUND):
        optimizer = optimizer_name(defect)
        yield report(RULE, defect, _message(defect, optimizer), fix=_fix(defect))


def _message(defect: Defect, optimizer: str) -> str:
    if defect.error is not None and defect.error.reason is Reason.STEP_AROUND_UNSCALED:
        return f"`{optimizer}.step()` ignores the inf check: an overflow reaches the parameters"
    if _is_second(defect):
        return f"`{optimizer}.step()` steps a second time, behind the scaler's back"
    return f"`{optimizer}.step()` applies gradients that are still multiplied by the loss scale"


def _is_second(defect: Defect) -> bool:
    return any(kind is EventKind.STEP for kind, _ in defect.because)


def _fix(defect: Defect) -> Fix | None:
    call = defect.place
    scaler, optimizer = scaler_code(defect), optimizer_code(defect)
    met = met_gradients(defect)
    if not isinstance(call, Call) or call.args or not (scaler and optimizer) or met & SCALED_BY_NOBODY:
        return None
    if _is_second(defect):
        return delete(defect, defect.site, "delete the second step", Applicability.UNSAFE)
    code, statement = f"{scaler}.step({optimizer})", statement_of(defect, defect.site)
    if _is_updated(defect, scaler):
        return replace_call(call, code, f"replace by `{code}`", Applicability.UNSAFE)
    if statement is None or not defect.reading.steps_of(EventKind.SCALE):
        return None
    title = f"replace by `{code}` and add `{scaler}.update()`"
    return repair(
        title, Applicability.UNSAFE, Replace(call.span, code), InsertAfter(statement.span, f"{scaler}.update()")
    )


def _is_updated(defect: Defect, scaler: str) -> bool:
    """Whether there is an update that no condition keeps apart from the step; of elements, one of the same words."""
    guards, index = defect.reading.guards, defect.home.index
    if any(map(is_taken, defect.reading.roles.scalers)):
        function = index.function(defect.place)
        alike = (call for call in index.calls if spelled(call.func) == f"{scaler}.update")
        return any(index.function(call) is function for call in alike)
    refused = {(id(guard.test), not guard.is_true) for guard in guards.of(defect.site)}
    updates = defect.reading.steps_of(EventKind.UPDATE)
    return any(refused.isdisjoint(guards.answers(update)) for update in updates)
