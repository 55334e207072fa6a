"""A gradient scaler is driven by hand where a framework drives its own.

## What it does

Finds `scaler.scale(…)` in a function that also runs `accelerator.backward(…)`, and in the methods of a
LightningModule whose optimization Lightning runs.

## Why it matters

The framework scales the loss again, steps the optimizer through its own scaler, and never tells the other one: "No
inf checks were recorded prior to update", or gradients that carry a scale which nobody divides out.

## Where it reports

At the call of `scale`; what shows the framework is a note. Arms of one `if` that choose between the two, and modules
with `automatic_optimization = False`, are left alone.

## Example

```python
accelerator = Accelerator(mixed_precision="fp16")
scaler = torch.amp.GradScaler("cuda")
for batch in loader:
    accelerator.backward(scaler.scale(model(batch)))
    scaler.step(optimizer)
    scaler.update()
```

Leave the scaling to the framework:

```python
accelerator = Accelerator(mixed_precision="fp16")
for batch in loader:
    accelerator.backward(model(batch))
    optimizer.step()
```

## References

* https://github.com/huggingface/accelerate/issues/357
* https://lightning.ai/docs/pytorch/stable/common/precision_intermediate.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import ClassDef
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP802",
    name="second-scaler-under-framework",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scalers driven by hand beside a framework's own."""
    for scale, shown in facts.frameworks.second_scalers():
        span = shown.name_span if isinstance(shown, ClassDef) else shown.span
        note = Note(span, "the framework scales by itself")
        yield RULE.finding(facts, scale, "this scaler works beside the framework's own", notes=(note,))
