"""The scaler updates, but no step of an optimizer was made.

## What it does

Finds an `update` that follows no `step` and no `unscale_` at all; a function that scales, unscales and updates, and in
which the scaler steps nothing on any path; and an optimizer that a function makes, unscales or zeroes, and never
steps, though it keeps the optimizer to itself.

## Why it matters

`update` raises `AssertionError: No inf checks were recorded prior to update.` With an `unscale_` before it nothing is
ever trained, silently.

## Where it reports

At the update; or at the call that unscales or zeroes the forgotten optimizer. Helpers that only scale, or only step,
are judged together with their callers.

## Example

```python
scaler.scale(loss).backward()
scaler.update()
```

## Fix

Inserts the step before the update, where the function names one optimizer alone.

## Fix safety

Unsafe: the run begins to train.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, Fix, InsertBefore
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Attribute, Call, ExprStmt
from amplint.rules.protocol_repairs import repair, statement_of
from amplint.rules.protocol_report import report, scaler_code, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP213",
    name="optimizer-never-stepped",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report updates without any step, and optimizers that are served without one."""
    for defect in facts.defects.of(DefectKind.NEVER_STEPPED):
        message = f"`{scaler_name(defect)}.update()` is called, but no optimizer is stepped"
        if _served(defect):
            message = f"`{_served(defect)}` is served here, but never stepped"
        yield report(RULE, defect, message, fix=_fix(defect))


def _served(defect: Defect) -> str:
    """The optimizer that a call unscales or zeroes; '' for an update, which serves none."""
    call = defect.place
    func = call.func if isinstance(call, Call) else None
    if not isinstance(call, Call) or (isinstance(func, Attribute) and func.attr == "update"):
        return ""
    return spelled(call.args[0].value if call.args else func.value if isinstance(func, Attribute) else call)


def _fix(defect: Defect) -> Fix | None:
    """A step before the only update, in the block of the call that it follows."""
    updates = [u for u in defect.reading.steps_of(EventKind.UPDATE) if defect.reading.are_together(u, defect.site)]
    named = [defect.reading.spelled_optimizer(place, defect.site) for place in defect.reading.roles.optimizers]
    optimizer = _served(defect) or (named[0] if len(named) == 1 else "")
    scaler, statement = scaler_code(defect), statement_of(defect, updates[0]) if len(updates) == 1 else None
    if not (optimizer and scaler) or not isinstance(statement, ExprStmt):
        return None
    if defect.reading.guards.of(updates[0]) != defect.reading.guards.of(defect.site):
        return None
    code = f"{scaler}.step({optimizer})"
    title = f"insert `{code}` before line {statement.span.line}"
    return repair(title, Applicability.UNSAFE, InsertBefore(statement.span, code))
