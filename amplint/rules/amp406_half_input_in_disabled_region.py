"""A result of an autocast region is used, uncast, in a region where autocast is off.

## What it does

Finds `torch.autocast(…, enabled=False)` regions whose calls get what an autocast region computed, without a cast to
float32 in between.

## Why it matters

Switching autocast off does not change tensors: half-precision results stay half. The float32 island then computes in
float16 after all, with its range (a `1e-8` is 0, a sum above 65504 is inf), or stops where the two dtypes meet: "mat1
and mat2 must have the same dtype". Opt-in, because a model may return float32 by itself.

## Where it reports

At the argument; both regions are notes. Silent where the disabled region casts anything by `.float()` or `.to(…)`.

## Example

```python
with torch.autocast("cuda"):
    outputs = model(images)
with torch.autocast("cuda", enabled=False):
    loss = criterion(outputs, labels)
```

Cast first:

```python
with torch.autocast("cuda"):
    outputs = model(images)
with torch.autocast("cuda", enabled=False):
    loss = criterion(outputs.float(), labels)
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP406",
    name="half-input-in-disabled-region",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report half-precision values that a float32 island takes as they are."""
    for half in facts.handoffs.half_inputs():
        notes = (
            Note(half.source.shown.span, "computed in this region"),
            Note(half.region.shown.span, "autocast is off here"),
        )
        yield RULE.finding(
            facts, half.use, f"{half.use.id} comes from autocast and is not cast to float32", notes=notes
        )
