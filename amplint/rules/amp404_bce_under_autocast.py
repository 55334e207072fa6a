"""A binary cross entropy of probabilities runs under CUDA autocast, which refuses it.

## What it does

Finds `torch.nn.functional.binary_cross_entropy` and calls of an `nn.BCELoss` inside a CUDA autocast region: written
there, or in a function, method or module that is called there. The loss module may be made in `__init__` and used
elsewhere.

## Why it matters

On CUDA the call raises "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast", also
for float32 inputs, because the gradient of the logarithm near 0 does not fit float16. On the CPU the same code runs
(in float32), so a test without a GPU does not notice.

## Where it reports

At the call in the region, or at the call inside the region that leads to it. Regions for the CPU, and regions that
are disabled, are left alone, and so is a loss that a setting chooses among several.

## Example

```python
with torch.autocast("cuda"):
    probabilities = torch.sigmoid(model(images))
    loss = torch.nn.functional.binary_cross_entropy(probabilities, labels)
```

Take the sigmoid out of the model and use the form that works on logits (equal within 1.2e-7 in float32):

```python
with torch.autocast("cuda"):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(images), labels)
```

Where the probabilities are needed, compute the loss in float32:

```python
with torch.autocast("cuda", enabled=False):
    loss = torch.nn.functional.binary_cross_entropy(probabilities.float(), labels)
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#prefer-binary-cross-entropy-with-logits-over-binary-cross-entropy
* https://github.com/pytorch/pytorch/issues/61098
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP404",
    name="bce-under-autocast",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report cross entropies of probabilities in CUDA regions."""
    for loss in facts.operations.probability_losses():
        notes = [Note(loss.region.shown.span, "autocast region opened here")]
        if loss.at.via:
            path = loss.at.facts.path if loss.at.facts is not facts else None
            notes.append(Note(loss.at.node.span, "binary cross entropy of probabilities here", path))
        message = "binary cross entropy of probabilities raises under CUDA autocast; use the form for logits"
        yield RULE.finding(facts, loss.place, message, notes=tuple(notes))
