"""A backward pass runs inside an autocast region.

## What it does

Finds `backward()` inside an autocast region: written there, or in a function that is called there.

## Why it matters

Autocast is meant for the forward pass and the loss; PyTorch's documentation advises against running the backward pass
under it. Backward operations use the dtype that their forward used, so in most models nothing changes: the parameters
stay bitwise equal. They differ where the forward had float32 islands (`autocast(enabled=False)`): the matrix products
of their backward then run in half precision. On a small model with one such island the distance to the float32 run
grew from 0.0031 to 0.0040. Custom autograd functions and a forward that is recomputed in the backward pass see the
region too.

## Where it reports

At the backward call, or at the call inside the region that leads to it; the region is a note, and an optimizer step in
the same region is another. Regions that are disabled are left alone, and so is the backward of a custom autograd
function that computes its forward again in the region it ran in, as `custom_bwd` does. Where a forward follows an
optimizer step in the same region, AMP402 reports the region instead.

## Example

```python
with torch.autocast("cuda", dtype=torch.float16):
    loss = criterion(model(images), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
```

## Fix

Moves the backward pass, and what follows it in the region, out of the region.

## Fix safety

Unsafe: where the forward had float32 islands, the gradients change (for the better). Offered only where the rest of
the region is backward, clipping, steps and bookkeeping, and the `with` statement enters nothing else.

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.edit import Applicability, DedentTail, Fix, FixKind
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP401",
    name="backward-under-autocast",
    severity=Severity.WARNING,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.REGION,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report backward passes in regions that go on to do nothing with the stepped weights."""
    for enclosed in facts.enclosed.harmless:
        tail = facts.enclosed.movable_tail(enclosed)
        by_entry = {event.entry: event for event in reversed(enclosed.backwards)}
        for event in reversed(by_entry.values()):
            notes = [Note(enclosed.region.shown.span, "autocast region opened here")]
            if event.via:
                path = event.facts.path if event.facts is not facts else None
                notes.append(Note(event.call.span, "backward runs here", path))
            notes.extend(
                Note(step.entry.span, "the optimizer steps inside the region too") for step in enclosed.steps[:1]
            )
            fix = None
            if tail is not None and not event.via and tail.span.contains(event.call.span):
                title = "move the backward pass out of the autocast region"
                fix = Fix(title, FixKind.REPAIR, Applicability.UNSAFE, (DedentTail(tail.span),))
            message = "backward runs under autocast; end the region once the loss is computed"
            yield RULE.finding(facts, event.entry, message, notes=tuple(notes), fix=fix)
