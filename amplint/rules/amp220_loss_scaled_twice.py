"""A loss is multiplied by the loss scale although it carries the scale already.

## What it does

Finds `scaler.scale(…)` of a value that the same scaler has scaled before, through names, helpers and wrappers.

## Why it matters

The step divides by the scale once, so the gradients that it applies are as many times too large as the scale says. At
the usual 65536 they overflow, and the scaler skips steps until the scale is small enough for its square: of 200 steps
with SGD 166 were skipped, and the others made the parameters infinite.

## Where it reports

At the second call of `scale`, with the first as a note.

## Example

```python
loss = scaler.scale(loss)
scaler.scale(loss).backward()
```

## Fix

Leaves out the second call, where its loss carries the scale on every path.

## Fix safety

Unsafe: steps that were skipped are made.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Attribute, Binary, Call, Unary
from amplint.rules.protocol_report import report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP220",
    name="loss-scaled-twice",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report losses that are scaled a second time."""
    for defect in facts.defects.of(DefectKind.SCALED_TWICE):
        call = defect.place
        assert isinstance(call, Call)
        assert isinstance(call.func, Attribute)
        message = f"`{spelled(call.func.value) or 'the scaler'}` scales a loss that it has scaled before"
        yield report(RULE, defect, message, fix=_fix(defect, call))


def _fix(defect: Defect, call: Call) -> Fix | None:
    """What is scaled there, without the second scale; only where every path brings it scaled."""
    loss = call.args[0].value
    code = spelled(loss)
    if not code or defect.reading.reader.scaled_before[defect.site] != {True}:
        return None
    change = Replace(call.span, f"({code})" if isinstance(loss, Binary | Unary) else code)
    return Fix("leave out the second `scale`", FixKind.REPAIR, Applicability.UNSAFE, (change,))
