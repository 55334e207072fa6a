"""The last, incomplete group of micro-batches is lost, or counts wrongly.

## What it does

Finds a loop whose step waits for a full group of micro-batches, and whose last, incomplete group

* is not stepped: what is left is thrown away, or leaks into the next epoch;
* is zeroed at the start of the next epoch, although the count of turns runs on;
* is stepped, in the last turn or behind the loop, with losses that were divided by the full length;
* changes the length that earlier turns are still counted by, so that a group before it is cut.

## Why it matters

Without a step the last batches of every epoch are lost, or their gradients are added to those of the next epoch (the
run ended 0.24 path lengths off); with one the last step is r/N of its size (0.095).

## Where it reports

At the test that the step waits for, or where the length changes. Silent where the count runs on over epochs and nothing
zeroes the gradients between them, for then no group is cut. Opt-in: with many batches the effect is small, and some
loaders drop the tail on purpose.

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

from amplint.facts.accumulation.tails import TailFault, tails
from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
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
_FAULTS = {
    TailFault.UNSTEPPED: "an incomplete group at the end of the loop is not stepped; step once more behind the loop",
    TailFault.ZEROED: "the count runs on over epochs, but an incomplete group is zeroed when the next epoch starts",
    TailFault.MISWEIGHTED: "an incomplete group at the end is stepped with losses that were divided by the full length",
    TailFault.SHIFTED: "the length of a group changes inside the loop, which cuts the groups that are counted by it",
}
_BECAUSE = {
    TailFault.ZEROED: "zeroed here in every epoch",
    TailFault.SHIFTED: "counted here",
}


def check(facts: Facts) -> Iterator[Finding]:
    """Report groups whose tail is not thought of."""
    for tail in tails(facts.accumulation.groups):
        what = _BECAUSE.get(tail.fault, "")
        notes = () if tail.because is None else (Note(tail.because.span, what),)
        yield RULE.finding(tail.home, tail.place, _FAULTS[tail.fault], notes=notes)
