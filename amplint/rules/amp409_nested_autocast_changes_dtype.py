"""An old autocast call without a dtype, inside a region of another dtype, switches that part to its own default.

## What it does

Finds `torch.cuda.amp.autocast()` and `torch.cpu.amp.autocast()` without `dtype=`, entered inside a region whose dtype
is known to be another one: a float16 island in a bfloat16 run.

## Why it matters

The old classes force their default dtype (float16 on CUDA, bfloat16 on the CPU); `torch.autocast(device)` inherits
the one around it. So a helper that was written for float16 training quietly computes in float16 inside a bfloat16
run, with float16's range and no scaler.

## Where it reports

At the inner call, or at the call inside the outer region that leads to it.

## Example

```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    features = backbone(images)
    with torch.cuda.amp.autocast():
        loss = head(features)
```

Name the dtype, or let it be inherited:

```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    features = backbone(images)
    with torch.autocast("cuda"):
        loss = head(features)
```

## References

* https://github.com/pytorch/pytorch/issues/71124
* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP409",
    name="nested-autocast-changes-dtype",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report old calls that force another dtype than the region around them."""
    for other in facts.entering.other_dtypes():
        outer = next(iter(other.region.dtypes))
        inner = next(iter(other.inner.dtypes))
        notes = [Note(other.region.shown.span, f"{outer} region opened here")]
        if other.via:
            path = other.inner.facts.path if other.inner.facts is not facts else None
            notes.append(Note(other.inner.call.span, f"{inner} from here", path))
        message = f"this autocast has no dtype and forces {inner} inside a region of {outer}"
        yield RULE.finding(facts, other.place, message, notes=tuple(notes))
