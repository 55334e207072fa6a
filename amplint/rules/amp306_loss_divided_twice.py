"""The loss of a micro-batch is divided by the length of its group twice.

## What it does

Finds a loss that two places on its way to the backward divide by the same expression, in a loop whose step waits for
a group of turns; and a loss that the program divides before `accelerator.backward`, which divides by the
`gradient_accumulation_steps` that its Accelerator was given.

## Why it matters

The gradient is N times too small: SGD learns N times more slowly. Adam hides it.

## Where it reports

At the second division, with the first as a note. Divisions in callee and caller are both seen.

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

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.spelling import spelled
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import If, Node, walk
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP306",
    name="loss-divided-twice",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report losses that are divided by the same length twice."""
    for group, trace in facts.accumulation.traced():
        period = spelled(group.period)
        divided = [node for divisor, node in trace.divisors if period and spelled(divisor) == period]
        if len(divided) > 1 and group.home is facts and not _are_exclusive(facts, divided[0], divided[1]):
            first, second = sorted(divided[:2], key=lambda node: node.span)
            message = f"the loss is divided by `{period}` a second time"
            yield RULE.finding(facts, second, message, notes=(Note(first.span, "divided here already"),))
    for twice in facts.accumulation.by_accelerate.divided_twice():
        message = f"the loss is divided by `{spelled(twice.length)}` here and again by the Accelerator"
        note = Note(twice.backward.span, "this divides by the `gradient_accumulation_steps` of its Accelerator")
        yield RULE.finding(facts, twice.division, message, notes=(note,))


def _are_exclusive(facts: Facts, one: Node, other: Node) -> bool:
    """Whether two places stand in the two arms of one condition."""
    for outer in facts.index.ancestors(one):
        if isinstance(outer, If):
            held = [{id(node) for statement in arm for node in walk(statement)} for arm in (outer.body, outer.orelse)]
            if any(id(one) in held[first] and id(other) in held[1 - first] for first in (0, 1)):
                return True
    return False
