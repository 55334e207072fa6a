"""A loss is read as a number after it was multiplied by the loss scale.

## What it does

Finds `.item()`, `.detach()`, `float(…)`, `total += …` and returns of a value that only `scaler.scale` gave.

## Why it matters

Training is right, but the number is thousands of times too large and jumps with the scale: 5172 in the log instead of
1.26.

## Where it reports

At the read, with the call of `scale` as a note. A division by the scale is right.

## Example

```python
scaled = scaler.scale(loss)
scaled.backward()
total += scaled.item()
```

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP209",
    name="scaled-loss-read",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report reads of scaled losses."""
    for value, place in facts.scaled_values.read():
        message = f"`{value.name}` is multiplied by the loss scale; read the loss before it is scaled"
        notes = (Note(value.call.span, "scaled here"),)
        yield RULE.finding(value.home, place, message, notes=notes)
