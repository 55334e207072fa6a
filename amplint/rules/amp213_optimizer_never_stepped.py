"""The scaler updates, but no step of an optimizer was made.

## What it does

Finds an `update` that follows no `step` and no `unscale_` at all.

## Why it matters

`update` raises `AssertionError: No inf checks were recorded prior to update.` With an `unscale_` before it nothing is
ever trained, silently.

## Where it reports

At the update. Helpers that only scale, or only step, are judged together with their callers.

## Example

```python
scaler.scale(loss).backward()
scaler.update()
```

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.defect import DefectKind
from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_report import report, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP213",
    name="optimizer-never-stepped",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report updates without any step."""
    for defect in facts.defects.of(DefectKind.NEVER_STEPPED):
        yield report(RULE, defect, f"`{scaler_name(defect)}.update()` is called, but no optimizer is stepped")
