"""The mean losses of a group of micro-batches are summed instead of averaged.

## What it does

Finds a backward in every turn of a loop whose step waits for a group of turns, where the loss is known to be a mean
over the micro-batch and is nowhere divided by the length of the group.

## Why it matters

The gradient is exactly N times that of the large batch: with SGD the learning rate is N times as high, with clipping
the threshold bites N times earlier. Adam divides the factor away again, so that nothing shows there (1.4e-5 in a
small run).

## Where it reports

At the backward, or at the call that hands the loss to a wrapper which runs it backward, with the test that the step
waits for as a note. Only where the mean is known: a torch loss with its default reduction, a criterion object of one,
`.mean()`, or a function in sight that returns such. A division of the loss or of the gradients, an inverse factor,
`reduction="sum"` or a weight of its own is taken to be right; a division by the number of processes alone is none.

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

from amplint.facts.accumulation.divided_gradients import divides_gradients
from amplint.facts.accumulation.groups import Group, plain
from amplint.facts.accumulation.loss_trace import LossTrace
from amplint.facts.gather import Facts
from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.spelling import operand, spelled
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Argument, Binary, Call, Lambda, Name
from amplint.model.walks import is_of_self, walk
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
    undivided = [
        group
        for group, trace in facts.accumulation.traced
        if trace.is_mean and not (_is_divided(group, trace) or trace.is_weighted or trace.is_summed or group.is_zeroed)
        if not divides_gradients(group.reading)
    ]
    for place, group in enumerate(undivided):
        if not any(_is_one_loss(other, group) for other in undivided[:place]):
            yield _finding(
                group, [other for other in undivided[place:] if other is group or _is_one_loss(group, other)]
            )


def _is_divided(group: Group, trace: LossTrace) -> bool:
    """Whether a loss is divided by what may be the length of its group."""
    period = spelled(group.period)
    return any(not each.is_by_processes or spelled(each.divisor) == period for each in trace.divisions)


def _is_one_loss(group: Group, other: Group) -> bool:
    """Whether two branches, of which one runs, take the same loss backward: with the scaler and without it."""
    index, here, there = group.home.index, group.at.node, other.at.node
    is_beside = group.home is other.home and index.function(here) is index.function(there)
    is_same = bool(spelled(plain(group.loss))) and spelled(plain(group.loss)) == spelled(plain(other.loss))
    return is_beside and is_same and are_exclusive(group.home, here, there)


def _finding(group: Group, branches: list[Group]) -> Finding:
    period = spelled(group.period)
    turns = f"`{period}` turns" if period else "a group of turns"
    message = f"the loss is a mean over one micro-batch and is summed over {turns} without a division"
    notes = []
    if group.guard is not None:
        test, frame = group.reading.guards.asked(group.guard)
        home = group.reading.scene.homes[frame]
        path = None if home is group.home else home.path
        notes.append(Note(test.span, "the step waits for this", path))
    step_home = group.reading.scene.homes[group.step.frame]
    notes.append(Note(group.step.node.span, "stepped only here", None if step_home is group.home else step_home.path))
    fix = _fix(branches, period)
    return RULE.finding(group.home, group.at.node, message, notes=tuple(notes), fix=fix)


def _fix(branches: list[Group], period: str) -> Fix | None:
    repairs = tuple(_division(group, period) for group in branches)
    if not period or not all(spelled(group.loss) and _knows_period(group) for group in branches):
        return None
    return Fix(f"divide the loss by `{period}`", FixKind.REPAIR, Applicability.UNSAFE, repairs)


def _division(group: Group, period: str) -> Replace:
    loss = plain(group.loss)
    code = f"{operand(loss)} / {f'({period})' if isinstance(group.period, Binary) else period}"
    around = group.home.index.parents.get(loss)
    return Replace(loss.span, code if isinstance(around, Argument) else f"({code})")


def _knows_period(group: Group) -> bool:
    """Whether the function of the backward is the one in which the period is named."""
    frames, guard = group.reading.scene.frames, group.guard
    asked = group.at.frame if guard is None else group.reading.guards.asked(guard)[1]
    return frames[asked].function is frames[group.at.frame].function and _means_the_same(group)


def _means_the_same(group: Group) -> bool:
    """Whether a period that another method names, on `self`, is that of the method that runs the backward."""
    index = group.home.index
    if group.period is None or group.period not in index.parents:
        return False
    names = {node.id for node in walk(group.period) if isinstance(node, Name)}
    there, here = index.function(group.period), index.function(group.at.node)
    while isinstance(there, Lambda) and names.isdisjoint(parameter.name for parameter in there.parameters):
        there = index.function(there)
    if there is here or there is None or there in index.ancestors(group.at.node):
        return True
    test = group.reading.guards.asked(group.guard)[0] if group.guard is not None else None
    asked = test.func if isinstance(test, Call) else test
    return is_of_self(asked) and names == {"self"}
