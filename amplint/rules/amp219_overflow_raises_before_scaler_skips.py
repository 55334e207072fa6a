"""An overflow that the scaler would skip raises an exception first.

## What it does

Finds clips with `error_if_nonfinite=True` after `scaler.unscale_`, a `raise` or an `assert` on a norm of theirs that is
not finite, and `torch.autograd.set_detect_anomaly(True)` in a
module that trains with a scaler.

## Why it matters

Overflows are a normal part of training with a loss scale: the scaler starts high, sees inf, skips the step and halves
the scale. With `error_if_nonfinite=True` the first one ends the run: `RuntimeError: The total norm of order 2.0 for
gradients from `parameters` is non-finite, so it cannot be clipped.` Anomaly detection ends it earlier, in the backward:
`RuntimeError: Function 'AddmmBackward0' returned nan values in its 0th output.` Whether and when that happens depends
on the data, so such a run can die after days.

## Where it reports

At the argument's call, at the `raise` or the `assert`, or at the call that switches anomaly detection on. A switch that
depends on a flag is left alone: that is how one debugs; so is a module in which no scaler steps, and a function that
catches the exception and goes on.

## Example

```python
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
scaler.step(optimizer)
```

## Fix

Removes `error_if_nonfinite=True`. The other forms are for the program to decide.

## Fix safety

Unsafe: somebody asked for the exception. Without it `step` skips such a batch, as it does without a clip.

## References

* https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
* https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.raised_norms import raised_norms
from amplint.facts.protocol.readings import Reading
from amplint.facts.protocol.scaler_steps import raising_clips
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, DeleteArgument, Fix, FixKind
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Call, Constant, ExprStmt, FunctionDef, If, Module, With
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP219",
    name="overflow-raises-before-scaler-skips",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)

ANOMALY = frozenset({"torch.autograd.set_detect_anomaly", "torch.autograd.anomaly_mode.set_detect_anomaly"})


def check(facts: Facts) -> Iterator[Finding]:
    """Report what raises on a normal overflow."""
    for clip in raising_clips(facts.protocol):
        argument = next(a for a in clip.call.args if a.name == "error_if_nonfinite")
        title = "let the scaler skip overflows: remove `error_if_nonfinite=True`"
        fix = Fix(title, FixKind.REPAIR, Applicability.UNSAFE, (DeleteArgument(argument.span),))
        message = "the clip raises on an overflow, which the scaler would have skipped"
        notes = (Note(clip.unscale.span, "unscaled here; infs are recorded for the step"),)
        yield RULE.finding(clip.home, clip.call, message, notes=notes, fix=fix)
    for raised in raised_norms(facts.protocol):
        notes = (Note(raised.unscale.span, "unscaled here; infs are recorded for the step"),)
        message = "this raises on an overflow, which the scaler would have skipped"
        yield RULE.finding(raised.home, raised.place, message, notes=notes)
    if any(reading.scene.homes[0] is facts and _trains(reading) for reading in facts.protocol):
        for call in facts.index.calls:
            if facts.names.canonical(call.func) in ANOMALY and _is_always_on(facts, call):
                message = "anomaly detection raises on an overflow, which the scaler would have skipped"
                yield RULE.finding(facts, call, message)


def _trains(reading: Reading) -> bool:
    """Whether a scaler steps; a program that only looks for a NaN has no step that could be skipped."""
    return bool(reading.roles.scalers) and any(True for _ in reading.steps_of(EventKind.STEP))


def _is_always_on(facts: Facts, call: Call) -> bool:
    """Whether a call switches anomaly detection on whenever its function runs, for a whole run."""
    given = next((a.value for a in call.args if not a.star and a.name in (None, "mode")), None)
    if not isinstance(given, Constant) or given.value is not True:
        return False
    statement = facts.index.statement(call)
    holder = facts.index.parents[statement]
    while isinstance(holder, With) or (isinstance(holder, If) and isinstance(holder.test, Constant)):
        holder = facts.index.parents[holder]
    return isinstance(statement, ExprStmt) and isinstance(holder, Module | FunctionDef)
