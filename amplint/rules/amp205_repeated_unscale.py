"""Gradients are unscaled twice, or after their step.

## What it does

Finds a second `unscale_` of one optimizer without an `update` between, and an `unscale_` behind the step.

## Why it matters

torch raises `RuntimeError: unscale_() has already been called on this optimizer since the last update().`, or
`unscale_() is being called after step().`

## Where it reports

At the call that is too much, with the first unscale or the step as a note. Where the second one is that of the next
micro-batch, see AMP302; where a guard skipped step and update, AMP212.

## Example

```python
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
scaler.unscale_(optimizer)
scaler.step(optimizer)
scaler.update()
```

## Fix

Deletes the call.

## Fix safety

Safe: torch rejects it anyway. Offered where every path that reaches the call has unscaled before.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.knowledge.protocol import Gradients, Reason
from amplint.model.edit import Applicability, Fix
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Call
from amplint.model.walks import last_name
from amplint.rules.protocol_repairs import (
    delete,
)
from amplint.rules.protocol_report import optimizer_name, report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP205",
    name="repeated-unscale",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report unscale_ calls that torch rejects."""
    for defect in facts.defects.of(DefectKind.REPEATED_UNSCALE):
        optimizer = optimizer_name(defect)
        is_late = defect.error is not None and defect.error.reason is Reason.UNSCALE_AFTER_STEP
        what = "after its step" if is_late else "a second time before the next update"
        yield report(RULE, defect, f"the gradients of `{optimizer}` are unscaled {what}", fix=_fix(defect, is_late))


def _fix(defect: Defect, is_late: bool) -> Fix | None:
    call = defect.place
    is_unscale = isinstance(call, Call) and last_name(call.func) == "unscale_"
    if defect.error is None or not is_unscale:  # a step divides too
        return None
    met = defect.reading.reader.met.get((defect.site, defect.error.optimizer), set())
    if met != {Gradients.SPENT if is_late else Gradients.UNSCALED}:
        return None
    return delete(defect, defect.site, "delete this `unscale_`", Applicability.SAFE)
