"""A scaler steps an optimizer with a closure.

## What it does

Finds `scaler.step(optimizer, closure)`, by position or by keyword, where the closure is certainly a function, and
`scaler.step(optimizer)` of an optimizer that cannot step without one (`LBFGS`). A literal `None` is fine.

## Why it matters

A scaler cannot work with closures: the backward inside would have to be unscaled and checked between the evaluations.
By keyword torch says so: `RuntimeError: Closure use is not currently supported if GradScaler is enabled.` By position
it does not notice: the closure runs inside the optimizer's step and its scaled gradients are applied as they are. At
scale 4 a weight moved 8 instead of 2, and a run ended with a loss of NaN. LBFGS without a closure raises
`TypeError: LBFGS.step() missing 1 required positional argument: 'closure'`.

## Where it reports

At the step. There is no fix: the forward and the backward have to run before the step, and optimizers that need several
evaluations a step train in float32 or bfloat16, without a scaler.

## Example

```python
def closure():
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    scaler.scale(loss).backward()
    return loss

scaler.step(optimizer, closure)
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.step
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.scaler_steps import closure_steps
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP210",
    name="scaler-step-with-closure",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report steps that need a closure, which no scaler can serve."""
    for step in closure_steps(facts.protocol):
        if step.closure is None:
            message = "LBFGS steps with a closure only, and a scaler cannot work with closures"
            notes: tuple[Note, ...] = ()
        elif step.closure.name is None:
            message = "the closure runs inside the optimizer's step, so its scaled gradients are applied as they are"
            notes = (Note(step.closure.span, "passed on by position, which torch does not notice"),)
        else:
            message = "a scaler's step raises RuntimeError when it is given a closure"
            notes = (Note(step.closure.span, "given here"),)
        yield RULE.finding(step.home, step.call, message, notes=notes)
