"""One autocast object is entered while it is still entered, and autocast stays on when the outer region ends.

## What it does

Finds an autocast object that is stored once and entered again inside its own region, and a function under an autocast
decorator that calls itself.

## Why it matters

An autocast object remembers the state from before it was entered. Entering it again overwrites that memory with "on",
so leaving the outer region turns nothing off: everything after it, the backward pass, the optimizer step, validation,
runs under autocast, and the cached half-precision weights are kept too.

## Where it reports

At the second entry, or at the call inside the region that leads to it. An object that is used twice in a row is fine,
and so are two objects.

## Example

```python
context = torch.autocast("cuda")
with context:
    features = backbone(images)
    with context:
        loss = head(features)
```

Make an object for each region:

```python
with torch.autocast("cuda"):
    features = backbone(images)
    with torch.autocast("cuda"):
        loss = head(features)
```

## References

* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py#L314
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP411",
    name="autocast-instance-reentered",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report objects that are entered while they are entered."""
    for reentry in facts.entering.reentered():
        notes = [Note(reentry.region.shown.span, "entered here first")]
        if reentry.inner.via:
            path = reentry.inner.facts.path if reentry.inner.facts is not facts else None
            notes.append(Note(reentry.inner.node.span, "entered again here", path))
        message = "this autocast object is entered while it is entered, so autocast stays on after the outer region"
        yield RULE.finding(facts, reentry.place, message, notes=tuple(notes))
