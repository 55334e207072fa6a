"""The loss of a micro-batch is divided by the length of its group twice.

## What it does

Finds a loss that two places on its way to the backward divide by the same expression, in a loop whose step waits for
a group of turns; and a loss that the program divides before `accelerator.backward`, which divides by the
`gradient_accumulation_steps` that its Accelerator was given.

## Why it matters

The gradient is N times too small: SGD learns N times more slowly. Adam hides it.

## Where it reports

At the second division, with the first as a note; at the division that the Accelerator repeats, with its backward as a
note. Divisions in callee and caller are both seen.

## Example

```python
for i, (images, labels) in enumerate(loader):
    loss = criterion(model(images), labels) / steps
    scaler.scale(loss / steps).backward()
    if (i + 1) % steps == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
```

## Fix

Takes the second division away, or the one that the Accelerator repeats, where both run on the same paths.

## Fix safety

Unsafe: the gradients get N times as large, and the learning rate of a tuned run may have made up for it.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from collections.abc import Iterator

from amplint.facts.accumulation.loss_trace import LossTrace
from amplint.facts.gather import Facts
from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.spelling import spelled
from amplint.model.edit import Applicability, DeleteStatement, Fix, FixKind, KeepLeft, Repair
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import AugAssign, Binary, Constant, If, Node
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP306",
    name="loss-divided-twice",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report losses that are divided by the same length twice."""
    for group, trace in facts.accumulation.traced:
        period = spelled(group.period)
        pair = _two_divisions(facts, trace, period) if period and group.home is facts else None
        if pair is not None:
            first, second = sorted(pair, key=lambda node: node.span)
            message = f"the loss is divided by `{period}` a second time"
            notes = (Note(first.span, "divided here already"),)
            yield RULE.finding(facts, second, message, notes=notes, fix=_fix(facts, second, first))
    for twice in facts.accumulation.by_accelerate.divided_twice():
        message = f"the loss is divided by `{spelled(twice.length)}` here and again by the Accelerator"
        note = Note(twice.backward.span, "this divides by the `gradient_accumulation_steps` of its Accelerator")
        yield RULE.finding(
            facts, twice.division, message, notes=(note,), fix=_fix(facts, twice.division, twice.backward)
        )


def _two_divisions(facts: Facts, trace: LossTrace, period: str) -> tuple[Node, Node] | None:
    """Two divisions by the length that one part of the loss goes through, one after the other."""
    divisions = [division for division in trace.divisions if spelled(division.divisor) == period]
    return next(
        (
            (division.node, later.node)
            for division in divisions
            for later in division.later
            if spelled(later.divisor) == period and not are_exclusive(facts, division.node, later.node)
        ),
        None,
    )


def _fix(facts: Facts, division: Node, other: Node) -> Fix | None:
    """Without the division; only where the other place runs whenever it does."""
    tests = [
        {id(outer) for outer in facts.index.ancestors(node) if isinstance(outer, If)} for node in (division, other)
    ]
    if tests[0] != tests[1]:
        return None
    if isinstance(division, AugAssign):
        change: Repair = DeleteStatement(division.span)
    elif isinstance(division, Binary) and not isinstance(division.left, Constant):
        change = KeepLeft(division.span, division.left.span)
    else:
        return None
    return Fix("take this division away", FixKind.REPAIR, Applicability.UNSAFE, (change,))
