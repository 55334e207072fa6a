"""Gradients are accumulated over micro-batches, but batch norms see each micro-batch alone.

## What it does

Finds batch-norm layers in a module whose training loop steps only every so many turns.

## Why it matters

Accumulation makes the gradient that of a large batch, not the statistics: each batch norm normalises by the mean and
variance of one micro-batch, and its running averages move once a micro-batch. With micro-batches of a few samples the
statistics are noise. Half precision is often what makes larger micro-batches possible in the first place.

## Where it reports

At the first batch norm that is made; the test of the boundary is a note.

## Example

```python
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16))
for i, images in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(images).mean() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
```

Group and layer norms do not look at the batch:

```python
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GroupNorm(4, 16))
```

## References

* https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP703",
    name="batch-norm-with-accumulation",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report batch norms beside accumulation."""
    for accumulation in facts.efficiency.accumulated_norms():
        note = Note(accumulation.test.span, "gradients are accumulated up to here")
        yield RULE.finding(facts, accumulation.norm, "this batch norm sees one micro-batch at a time", notes=(note,))
