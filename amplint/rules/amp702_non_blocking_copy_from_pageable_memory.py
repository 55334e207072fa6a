"""A copy is asked not to block, but what it copies is not in pinned memory.

## What it does

Finds `non_blocking=True` in a training loop over a `DataLoader` that does not pin memory.

## Why it matters

A copy from ordinary (pageable) memory to the GPU goes through a pinned buffer first and blocks the CPU meanwhile,
whatever the argument says. Only a copy from pinned memory overlaps with what the GPU does.

## Where it reports

At the first such copy of the loop; the loader is a note.

## Example

```python
loader = torch.utils.data.DataLoader(dataset, batch_size=64)
for images, labels in loader:
    images = images.to("cuda", non_blocking=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

Pin the memory of the batches:

```python
loader = torch.utils.data.DataLoader(dataset, batch_size=64, pin_memory=True)
```

## References

* https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP702",
    name="non-blocking-copy-from-pageable-memory",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report copies that block all the same."""
    for copy, loader in facts.efficiency.pageable_copies():
        note = Note(loader.span, "this loader does not pin memory")
        yield RULE.finding(
            facts, copy, "this copy blocks all the same: the batches are not in pinned memory", notes=(note,)
        )
