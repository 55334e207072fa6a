"""A layer has a size that is no multiple of 8, so its matrix products miss the fast tensor-core kernels.

## What it does

Finds literal sizes of linear, convolution and embedding layers, from 64 upwards, that are no multiple of 8, in
modules that use autocast.

## Why it matters

Tensor cores work on blocks of 8 half-precision numbers. Newer libraries pad other sizes by themselves, at the price
of a copy or a slower kernel; older ones fall back to the ordinary cores. A vocabulary of 50257 padded to 50304 is a
known case: the extra rows cost less than the alignment gains.

## Where it reports

At the size. What a test makes is left alone.

## Example

```python
head = torch.nn.Linear(768, 50257)
with torch.autocast("cuda", dtype=torch.float16):
    logits = head(features)
```

Round it up:

```python
head = torch.nn.Linear(768, 50304)
with torch.autocast("cuda", dtype=torch.float16):
    logits = head(features)
```

## References

* https://docs.nvidia.com/deeplearning/performance/mixed-precision-training/index.html#tensor-core-shape
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP704",
    name="matmul-size-not-multiple-of-8",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report literal sizes that are no multiple of 8."""
    for _, size in facts.efficiency.odd_sizes():
        yield RULE.finding(
            facts, size, "this size is no multiple of 8, so half precision misses the fast tensor-core kernels"
        )
