"""The mean losses of a group of micro-batches are summed instead of averaged.

## What it does

Finds a backward in every turn of a loop whose step waits for a group of turns, where the loss is known to be a mean
over the micro-batch and is nowhere divided by the length of the group.

## Why it matters

The gradient is exactly N times that of the large batch: with SGD the learning rate is N times as high, with clipping
the threshold bites N times earlier. Adam divides the factor away again, so that nothing shows there (1.4e-5 in a
small run).

## Where it reports

At the backward, with the test that the step waits for as a note. Only where the mean is known: a torch loss with its
default reduction, a criterion object of one, `.mean()`, or a function in sight that returns such. A division, an
inverse factor, `reduction="sum"` or a weight of its own is taken to be right.

## Example

```python
for i, (images, labels) in enumerate(loader):
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    scaler.scale(loss).backward()
    if (i + 1) % steps == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
```

## Fix

Divides the loss by the length of the group.

## Fix safety

Unsafe: a tuned run may live on the mistake.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
"""

from collections.abc import Iterator

from amplint.facts.accumulation import Group
from amplint.facts.gather import Facts
from amplint.facts.guards import Guards
from amplint.facts.loss_trace import LossTrace
from amplint.facts.spelling import spelled
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Attribute, Call
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP301",
    name="undivided-accumulation-loss",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report backward passes of mean losses that are summed over a group."""
    for group, trace in facts.accumulation.traced():
        if trace.is_mean and not (trace.divisors or trace.is_weighted or trace.is_summed):
            yield _finding(group, trace)


def _finding(group: Group, trace: LossTrace) -> Finding:
    period = spelled(group.period)
    turns = f"`{period}` turns" if period else "a group of turns"
    message = f"the loss is a mean over one micro-batch and is summed over {turns} without a division"
    notes = []
    if group.guard is not None:
        home = group.reading.scene.homes[group.guard.frame]
        path = None if home is group.home else home.path
        notes.append(Note(group.guard.test.span, "the step waits for this", path))
    step_home = group.reading.scene.homes[group.step.frame]
    notes.append(Note(group.step.node.span, "stepped only here", None if step_home is group.home else step_home.path))
    return RULE.finding(group.home, group.backward.node, message, notes=tuple(notes), fix=_fix(group, period))


def _fix(group: Group, period: str) -> Fix | None:
    loss = group.loss
    if isinstance(loss, Call) and isinstance(loss.func, Attribute) and loss.func.attr == "scale" and loss.args:
        loss = loss.args[0].value
        code = f"{spelled(loss)} / {period}"
    else:
        code = f"({spelled(loss)} / {period})"
    frames, guard = group.reading.scene.frames, group.guard
    asked = group.backward.frame if guard is None else Guards(group.reading.scene).asked(guard)[1]
    is_here = frames[asked].function is frames[group.backward.frame].function
    if not period or not spelled(loss) or not is_here:
        return None
    title = f"divide the loss by `{period}`"
    return Fix(title, FixKind.REPAIR, Applicability.UNSAFE, (Replace(loss.span, code),))
