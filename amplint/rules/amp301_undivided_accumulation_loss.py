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
from amplint.facts.branches import are_exclusive
from amplint.facts.gather import Facts
from amplint.facts.guards import Guards
from amplint.facts.spelling import spelled
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Attribute, Call, Expr
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
        for group, trace in facts.accumulation.traced()
        if trace.is_mean and not (trace.divisors or trace.is_weighted or trace.is_summed)
    ]
    for place, group in enumerate(undivided):
        if not any(_is_one_loss(other, group) for other in undivided[:place]):
            yield _finding(
                group, [other for other in undivided[place:] if other is group or _is_one_loss(group, other)]
            )


def _is_one_loss(group: Group, other: Group) -> bool:
    """Whether two branches, of which one runs, take the same loss backward: with the scaler and without it."""
    index, here, there = group.home.index, group.backward.node, other.backward.node
    is_beside = group.home is other.home and index.function(here) is index.function(there)
    is_same = bool(spelled(_plain(group.loss))) and spelled(_plain(group.loss)) == spelled(_plain(other.loss))
    return is_beside and is_same and are_exclusive(group.home, here, there)


def _plain(loss: Expr) -> Expr:
    """The loss inside of `scaler.scale(loss)`."""
    if isinstance(loss, Call) and isinstance(loss.func, Attribute) and loss.func.attr == "scale" and loss.args:
        return loss.args[0].value
    return loss


def _finding(group: Group, branches: list[Group]) -> Finding:
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
    fix = _fix(branches, period)
    return RULE.finding(group.home, group.backward.node, message, notes=tuple(notes), fix=fix)


def _fix(branches: list[Group], period: str) -> Fix | None:
    repairs = tuple(_division(group, period) for group in branches)
    if not period or not all(spelled(group.loss) and _knows_period(group) for group in branches):
        return None
    return Fix(f"divide the loss by `{period}`", FixKind.REPAIR, Applicability.UNSAFE, repairs)


def _division(group: Group, period: str) -> Replace:
    plain = _plain(group.loss)
    code = f"{spelled(plain)} / {period}"
    return Replace(plain.span, code if plain is not group.loss else f"({code})")


def _knows_period(group: Group) -> bool:
    """Whether the function of the backward is the one in which the period is named."""
    frames, guard = group.reading.scene.frames, group.guard
    asked = group.backward.frame if guard is None else Guards(group.reading.scene).asked(guard)[1]
    return frames[asked].function is frames[group.backward.frame].function
