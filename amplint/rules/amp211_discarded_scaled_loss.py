"""The result of `scaler.scale` is thrown away.

## What it does

Finds `scaler.scale(loss)` as a statement of its own, and a name that gets its value and is never used.

## Why it matters

`scale` returns a new tensor and leaves the loss as it was. The backward of the unscaled loss gives gradients that the
step then divides by the scale: training stands still with SGD, and underflows in float16.

## Where it reports

At the call, with the backward of the unscaled loss as a note; that backward is not reported again (AMP204).

## Example

```python
scaler.scale(loss)
loss.backward()
scaler.step(optimizer)
scaler.update()
```

## Fix

Deletes the statement and scales the loss at its backward.

## Fix safety

Unsafe: a tuned run may live on the mistake.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.scaled_values import ScaledValue
from amplint.model.edit import Applicability, DeleteStatement, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Attribute, Call
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP211",
    name="discarded-scaled-loss",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scaled losses that nobody uses."""
    for value in facts.scaled_values.discarded():
        backward = value.backward_of_the_plain_loss()
        notes = () if backward is None else (Note(backward.span, "the unscaled loss runs backward here"),)
        message = f"the scaled loss is thrown away: `{spelled(value.call)}` returns it and changes nothing"
        yield RULE.finding(value.home, value.call, message, notes=notes, fix=_fix(value, backward))


def _fix(value: ScaledValue, backward: Call | None) -> Fix | None:
    code = spelled(value.call)
    if backward is None or not isinstance(backward.func, Attribute) or not code:
        return None
    statement = value.home.index.statement(value.call)
    repairs = (DeleteStatement(statement.span), Replace(backward.func.value.span, code))
    return Fix(f"run `{code}` backward", FixKind.REPAIR, Applicability.UNSAFE, repairs)
