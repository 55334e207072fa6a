"""A new scaler is made again and again while one optimizer goes on.

## What it does

Finds a scaler that is made inside a loop over batches or epochs, or in a function that such a loop calls. Also one
that a method makes in the place of its object's scaler, and scales a single loss with.

## Why it matters

The scale goes back to its first value each time, and the growth counter starts again. Where the first scale
overflows, no step is ever applied: in a run with a large loss 0 of 24 steps instead of 15, with a new scaler per
epoch 12 of 24 instead of 20.

## Where it reports

At the constructor: an error where the loop goes through batches, a warning where it goes through epochs. A note shows
the loop, or the call in it. A loop that makes its optimizer anew as well (folds, trials) is right, and so is a scaler
behind a test that there is none.

## Example

```python
for images, labels in loader:
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(criterion(model(images), labels)).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
```

## Fix

Moves the assignment before the outermost loop that has one optimizer, where nothing in it depends on the loop. None
where another function's loop repeats it: the scaler has to become an argument then.

## Fix safety

Unsafe: the scale of a tuned run was another one.

## References

* https://github.com/conservationtechlab/animl-py/issues/298
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.replaced_scalers import replaced
from amplint.facts.protocol.scaler_creation import Creation, outermost
from amplint.model.edit import Applicability, Fix, FixKind, MoveStatement
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import For
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP208",
    name="scaler-created-in-loop",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.INTENDED,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scalers that a loop makes again and again."""
    for creation in facts.scaler_creations.found:
        often = "for every batch" if creation.is_per_batch else "in every turn of a loop"
        severity = Severity.ERROR if creation.is_per_batch else Severity.WARNING
        if creation.through is not None and creation.caller is not None:
            path = None if creation.caller is facts else creation.caller.path
            notes = (Note(creation.through.span, "called in a loop here", path),)
        else:
            header = creation.loop.iter if isinstance(creation.loop, For) else creation.loop.test
            notes = (Note(header.span, "in this loop"),)
        message = f"a new scaler is made {often}: the loss scale starts again from its first value"
        yield RULE.finding(facts, creation.call, message, notes=notes, severity=severity, fix=_fix(facts, creation))
    known = {creation.call for creation in facts.scaler_creations.found}
    for call, first in replaced(facts):
        if call not in known:
            message = "each call makes a new scaler in the place of its object's: the loss scale never adapts"
            yield RULE.finding(facts, call, message, notes=(Note(first.span, "the scaler that is replaced"),))


def _fix(facts: Facts, creation: Creation) -> Fix | None:
    loop, statement = outermost(facts, creation), facts.index.statement(creation.call)
    if loop is None:
        return None
    title = f"make the scaler once, before line {loop.span.line}"
    change = MoveStatement(statement.span, loop.span, is_before=True)
    return Fix(title, FixKind.REPAIR, Applicability.UNSAFE, (change,))
