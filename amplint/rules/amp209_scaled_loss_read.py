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

## Fix

Reads the loss that was scaled, where it has a name of its own that still holds it. None for a value that is returned.

## Fix safety

Safe: only the number that is read changes.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.scaled_values import ScaledValue
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Name, Node, Return
from amplint.model.walks import walk
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP209",
    name="scaled-loss-read",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.BITWISE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report reads of scaled losses."""
    for value, place in facts.scaled_values.read():
        message = (
            f"`{value.name or spelled(value.call)}` is multiplied by the loss scale; read the loss before it is scaled"
        )
        notes = (Note(value.call.span, "scaled here"),)
        yield RULE.finding(value.home, place, message, notes=notes, fix=_fix(value, place))


def _fix(value: ScaledValue, place: Node) -> Fix | None:
    """The plain name in the place of the scaled one; only where nothing else is assigned to it in the function."""
    plain, index = value.loss, value.home.index
    if not isinstance(plain, Name) or not value.is_only or isinstance(place, Return):
        return None
    names = (node for node in walk(value.function) if isinstance(node, Name) and node.id == plain.id)
    targets = [name for name in names if value.home.index.is_target(name)]
    uses = [use for use in value.uses() if use is place or place in index.ancestors(use)]
    if len(targets) != 1 or targets[0].span > value.call.span or len(uses) != 1:
        return None
    change = Replace(uses[0].span, plain.id)
    return Fix(f"read `{plain.id}`", FixKind.REPAIR, Applicability.SAFE, (change,))
