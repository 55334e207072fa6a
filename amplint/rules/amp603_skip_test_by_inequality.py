"""A skipped step is told by a scale that changed, but the scale also changes when it grows.

## What it does

Finds `!=` or `==` between the scale before and after `update()`, where the answer decides about a scheduler or is
kept under a name that tells of a step.

## Why it matters

The scale falls when a step was skipped and grows after `growth_interval` good steps (2000 by default). A test for
inequality takes each growth for a skip: one good step in 2000 is counted as skipped, and a scheduler behind the test
misses it.

## Where it reports

At the comparison. A comparison that only logs is left alone.

## Example

```python
scale = scaler.get_scale()
scaler.step(optimizer)
scaler.update()
skipped = scale != scaler.get_scale()
```

Compare by size:

```python
scale = scaler.get_scale()
scaler.step(optimizer)
scaler.update()
skipped = scaler.get_scale() < scale
```

## References

* https://github.com/huggingface/transformers/pull/11144
* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py#L549
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP603",
    name="skip-test-by-inequality",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report inequality tests of the scale."""
    for test in facts.scaler_lifecycle.inequality_tests():
        message = "the scale also differs after it has grown; a step was skipped only if the scale became smaller"
        yield RULE.finding(facts, test, message)
