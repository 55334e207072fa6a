"""The last, incomplete group of micro-batches is lost, or counts wrongly.

## What it does

Finds a loop whose step waits for a full group of micro-batches, without a test for the last turn: with no step behind
the loop (what is left is thrown away or leaks into the next epoch), or with one (the losses were divided by the full
length).

## Why it matters

Without a step the last batches of every epoch are lost, or their gradients are added to those of the next epoch (the
run ended 0.24 path lengths off); with one the last step is r/N of its size (0.095).

## Where it reports

At the test that the step waits for. Opt-in: with many batches the effect is small, and some loaders drop the tail on
purpose.

## Example

```python
for i, (images, labels) in enumerate(loader):
    scaler.scale(criterion(model(images), labels) / 4).backward()
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
```

## References

* https://github.com/jingyaogong/minimind/issues/749
"""

from collections.abc import Iterator

from amplint.facts.accumulation import Group
from amplint.facts.gather import Facts
from amplint.facts.guards import Guards, ways_up
from amplint.knowledge.protocol import EventKind
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Call, For, Name, walk
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP305",
    name="accumulation-tail",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report groups whose tail is not thought of."""
    seen: set[int] = set()
    for group in facts.accumulation.groups:
        if group.guard is None or group.boundary is None or group.boundary.has_last or id(group.guard.test) in seen:
            continue
        test, frame = Guards(group.reading.scene).asked(group.guard)
        home = group.reading.scene.homes[frame]
        if not _is_over_a_loader(group):
            continue
        seen.add(id(group.guard.test))
        what = (
            "is stepped with losses that were divided by the full length" if _has_tail_step(group) else "is not stepped"
        )
        yield RULE.finding(home, test, f"an incomplete group at the end of the loop {what}")


def _is_over_a_loader(group: Group) -> bool:
    """A loop that ends with its data; one over a fixed number of steps has no tail of its own."""
    if not isinstance(group.loop, For):
        return False
    iterated = group.loop.iter
    return not (
        isinstance(iterated, Call) and isinstance(iterated.func, Name) and iterated.func.id in ("range", "count")
    )


def _has_tail_step(group: Group) -> bool:
    """Whether a step stands behind the loop, in the function that has the loop."""
    scene, inside = group.reading.scene, {id(node) for node in walk(group.loop)}
    frame = next((step.frame for step in ways_up(scene, group.step) if id(step.node) in inside), None)
    return any(
        way.frame == frame and way.node.span > group.loop.span and id(way.node) not in inside
        for step in group.reading.steps_of(EventKind.STEP, EventKind.DIRECT_STEP)
        for way in ways_up(scene, step)
    )
