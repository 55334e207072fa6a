"""A scaled loss is added to a term that is not scaled.

## What it does

Finds a sum or difference of `scaler.scale(…)` and something that no scaler multiplied.

## Why it matters

The plain term is divided by the scale like the rest: it counts thousands of times too little. A regularisation
vanished, and the run ended 0.25 path lengths off.

## Where it reports

At the sum, with the call of `scale` as a note.

## Example

```python
total = scaler.scale(loss) + 0.1 * penalty
total.backward()
```

## Fix

Scales the sum, where it stands in one expression: `scaler.scale(loss + penalty)`.

## Fix safety

Unsafe: the other term begins to count.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import operand, spelled
from amplint.facts.protocol.scaled_values import ScaledValue
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Binary
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP217",
    name="loss-mixed-with-scaled-loss",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report sums of scaled and plain losses."""
    for value, place in facts.scaled_values.mixed():
        message = "one term of this sum is multiplied by the loss scale, and another is not"
        yield RULE.finding(
            value.home, place, message, notes=(Note(value.call.span, "scaled here"),), fix=_fix(value, place)
        )


def _fix(value: ScaledValue, place: Binary) -> Fix | None:
    parts = [value.loss if part is value.call else part for part in (place.left, place.right)]
    code, scaler = (spelled(parts[0]), operand(parts[1])), spelled(value.call.func)
    if value.call not in (place.left, place.right) or "" in (*code, scaler):
        return None
    change = Replace(place.span, f"{scaler}({code[0]} {place.op} {code[1]})")
    return Fix("scale the sum", FixKind.REPAIR, Applicability.UNSAFE, (change,))
