"""An optimizer steps inside an autocast region, and a later forward pass in that region uses the old weights.

## What it does

Finds optimizer steps inside an autocast region. It is an error where another forward pass of the same region follows
the step: a whole training loop in the region, or a call of a training loop, or two steps in a row. A step with no
forward after it is only a warning.

## Why it matters

Autocast keeps the half-precision copies of the weights that it made and drops them when the outermost region ends.
A forward that follows an optimizer step in the same region computes with the copies from before the step: the weights
move, the model does not. Nothing warns. In a small run the loss stayed at 1.45 where 1.26 is right, at a distance of
0.34 to 0.57 from the float32 run (right: below 0.004); with four micro-batches to a region it was 0.034. A step
with no forward after it leaves the parameters bitwise equal.

## Where it reports

At the step, or at the call inside the region that leads to it. A step beside a backward pass in the same region, with
no forward after it, is told by AMP401. Regions with `cache_enabled=False` have no stale copies.

## Example

```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
```

Open the region in the loop, around the forward and the loss alone:

```python
for images, labels in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## References

* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py#L347
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP402",
    name="training-loop-under-autocast",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)
_STALE = (
    "the weights are stepped inside the autocast region, so the next forward there uses the old half-precision copies"
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report steps inside regions: stale ones as errors, lone ones as warnings."""
    for enclosed in facts.enclosed.stale():
        step = enclosed.stale_step
        if step is None:
            continue
        notes = [Note(enclosed.region.shown.span, "autocast region opened here")]
        for event in (step, *enclosed.backwards[:1]):
            path = event.facts.path if event.facts is not facts else None
            if event.via or event is not step:
                notes.append(Note(event.call.span, f"{event.kind} here", path))
        yield RULE.finding(facts, step.entry, _STALE, notes=tuple(notes))
    for enclosed in facts.enclosed.harmless:
        if enclosed.backwards:
            continue
        for step in enclosed.steps:
            note = Note(enclosed.region.shown.span, "autocast region opened here")
            message = "the optimizer steps inside an autocast region, which is meant for the forward pass and the loss"
            yield RULE.finding(facts, step.entry, message, notes=(note,), severity=Severity.WARNING)
