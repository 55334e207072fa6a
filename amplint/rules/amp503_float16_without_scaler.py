"""A loss from a float16 region is backpropagated without loss scaling.

## What it does

Finds a plain `backward()` of a loss that was computed in an autocast region that is, or on CUDA will be, float16, in
a module where nothing scales losses: there is no scaler, or one that is made and then forgotten. Also a scaler that is
made with `enabled=False` and nothing else, although the region of its losses is float16: its `scale` gives the loss
back as it is. And a region that is always float16, where the loss is scaled if there is a scaler and runs backward as
it is if there is none.

## Why it matters

Gradients below 6e-8 become zero in float16, without a word. How many depends on the size of the loss: with a loss
multiplied by 1 none of the gradient entries were flushed, by 1e-2 0.4 %, by 1e-4 83 %, by 1e-6 99 %; with a scaler of
65536 at most 0.1 %. Training looks slow, or stops early.

## Where it reports

At the region, with the backward pass as a note; or at the scaler that is switched off, with the region as a note.
`torch.autocast(device)` without a dtype is float16 on CUDA. Evaluation under `no_grad` or `inference_mode`, and
training through Accelerate, Lightning, Fabric or DeepSpeed, are left alone.

## Example

```python
with torch.autocast("cuda"):
    loss = criterion(model(images), labels)
loss.backward()
optimizer.step()
```

Scale the loss, or use bfloat16:

```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = criterion(model(images), labels)
loss.backward()
optimizer.step()
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.autocast.regions import Region
from amplint.facts.autocast.unscaled_branch import unscaled_branches
from amplint.facts.gather import Facts
from amplint.facts.training.idle_scalers import scalers_made
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP503",
    name="float16-without-scaler",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report float16 regions whose loss nobody scales."""
    for loss in facts.unscaled.losses():
        idle = (Note(call.span, "this scaler scales nothing") for call in scalers_made(facts))
        notes = (*_makers(facts, loss.region), Note(loss.backward.span, "the loss is not scaled here"), *idle)
        how = "is float16 on CUDA" if loss.is_certain else "may be float16"
        message = f"this region {how}, and nothing scales the loss before its backward pass; use a GradScaler"
        yield RULE.finding(facts, loss.region.shown, message, notes=notes)
    for loss in unscaled_branches(facts):
        note = Note(loss.backward.span, "the loss is not scaled here")
        message = "this region is float16 on CUDA also where there is no scaler to scale its loss"
        yield RULE.finding(facts, loss.region.shown, message, notes=(note,))
    for pair in facts.pairing.disabled():
        is_here = pair.made.call in facts.index.parents and pair.made.facts is facts
        region = None if pair.region.facts is facts else pair.region.facts.path
        notes = (
            Note(pair.region.shown.span, "the region of its losses", region),
            Note(pair.scaled.span, "not scaled here"),
        )
        message = "this scaler is switched off for good, and the region of its losses is float16"
        yield RULE.finding(facts, pair.made.call if is_here else pair.scaled, message, notes=notes)


def _makers(facts: Facts, region: Region) -> Iterator[Note]:
    """Where the autocast of a region is made, if that is somewhere else."""
    made = {each.call: each.facts for each in region.autocasts if each.call is not region.shown}
    for call, home in made.items():
        yield Note(call.span, "autocast is made here", None if home is facts else home.path)
