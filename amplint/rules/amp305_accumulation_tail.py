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

from amplint.facts.gather import Facts
from amplint.facts.guards import Guards
from amplint.facts.tails import has_tail, has_tail_step
from amplint.model.finding import Finding, Severity
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
        if not has_tail(group, home):
            continue
        seen.add(id(group.guard.test))
        what = (
            "is stepped with losses that were divided by the full length" if has_tail_step(group) else "is not stepped"
        )
        yield RULE.finding(home, test, f"an incomplete group at the end of the loop {what}")
