"""A model is cast to float16 and its parameters are trained.

## What it does

Finds a model that is cast with `.half()`, `.to(torch.float16)` or `torch_dtype=torch.float16`, and whose
`parameters()` are handed to an optimizer in a program that runs a backward pass.

## Why it matters

Mixed precision keeps the parameters in float32 and lets autocast cast them. With float16 parameters a scaler stops at
the first step: "ValueError: Attempting to unscale FP16 gradients." Without a scaler the run goes on, but updates
smaller than a 2048th of a weight round to nothing: at a learning rate of 1e-4 a small run ended at a distance of 1.33
from its float32 twin (right: 0.003).

## Where it reports

At the cast; the optimizer is a note. Copies that are cast for a checkpoint or for export, frozen models, models that
are cast back, and input tensors are left alone.

## Example

```python
model = Net().half().cuda()
optimizer = torch.optim.AdamW(model.parameters())
loss = criterion(model(images.half()), labels)
scaler.scale(loss).backward()
```

Leave the parameters alone:

```python
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
with torch.autocast("cuda", dtype=torch.float16):
    loss = criterion(model(images), labels)
scaler.scale(loss).backward()
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
* https://github.com/pytorch/pytorch/issues/74739
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP501",
    name="half-parameters-with-scaler",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report casts of what an optimizer trains."""
    for half in facts.unscaled.half_parameters():
        note = Note(half.optimizer.span, "an optimizer trains its parameters")
        message = "float16 parameters cannot be trained with a scaler, and round small updates away without one"
        yield RULE.finding(facts, half.cast, message, notes=(note,))
