"""Gradients are measured, compared or changed while they are still multiplied by the loss scale.

## What it does

Finds norms, thresholds and noise on `.grad`, and clips that only measure, on a path with scaled gradients.

## Why it matters

The value is thousands of times too large and jumps whenever the scale moves. A logged norm is a wrong log; a
threshold (`if norm > 10: continue`) skips every step; noise or a constant that is added is divided away.

## Where it reports

At the read; where a helper reads, at the call of the helper in the function that deals with the scaler. Reads after
`unscale_` or after the step are right, as is a division by `get_scale()`, and asking whether gradients are finite. A
norm that gradients are only divided by, as adversarial training does, says the same at every scale; one that goes to a
name that nobody reads does no harm.

## Example

```python
scaler.scale(loss).backward()
norm = sum(p.grad.norm() for p in model.parameters())
scaler.step(optimizer)
scaler.update()
```

## Fix

Inserts `scaler.unscale_(optimizer)` before the read, or before the loop over parameters in which it stands. Where an
`unscale_` stands behind the arm of the read, that one is moved before the arm.

## Fix safety

Safe under the conditions of AMP201.

## References

* https://github.com/languini-kitchen/languini-kitchen/pull/7
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.gradients import Handling
from amplint.flow.graph import Step
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Assign, FunctionDef, Name
from amplint.model.walks import walk
from amplint.rules.protocol_moves import unscale_in_time
from amplint.rules.protocol_report import report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP214",
    name="scaled-gradient-read",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report reads of gradients that are still scaled."""
    defects = facts.defects.of(DefectKind.READ_SCALED)
    for defect in defects:
        # A norm of norms reads each gradient once, in the inner call.
        if any(other is not defect and _is_inside(other, defect) for other in defects) or _is_unused(defect):
            continue
        message = "reads gradients that are still multiplied by the loss scale"
        yield report(RULE, defect, message, missed="unscaled only here", fix=unscale_in_time(defect))


def _is_inside(inner: Defect, outer: Defect) -> bool:
    """Whether one of two reads is a part of the expression of the other."""
    return inner.home is outer.home and outer.place.span.contains(inner.place.span)


def _is_unused(defect: Defect) -> bool:
    """Whether what is read goes to a local name that nobody reads, and the gradients stay as they are."""
    index = defect.home.index
    statement, function = index.statement(defect.place), index.function(defect.place)
    site = defect.error.site if defect.error is not None else None
    if not isinstance(statement, Assign) or not isinstance(function, FunctionDef) or not isinstance(site, Step):
        return False
    if any(happening.handling is Handling.CHANGE for happening in defect.reading.events.of(site)):
        return False
    targets = [target for target in statement.targets if isinstance(target, Name)]
    bindings = [binding for target in targets for binding in defect.home.names.lookup(target.id, target)]
    is_local = len(targets) == len(statement.targets) and all(binding.scope is function for binding in bindings)
    if not is_local or statement.value is not defect.place:
        return False
    names = {target.id for target in targets}
    return not any(isinstance(n, Name) and n.id in names and not index.is_target(n) for n in walk(function))
