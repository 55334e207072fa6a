"""A training loop waits for the device in every turn.

## What it does

Finds `.item()`, `.cpu()`, `.tolist()`, `.numpy()` and `scaler.get_scale()` that run in every turn of a loop that
steps an optimizer.

## Why it matters

Each of them waits until the GPU has done all that was asked of it, so the CPU cannot prepare the next kernels. Half
precision makes the kernels shorter and the wait dearer. Summing the loss on the device and reading it every hundred
steps costs nothing.

## Where it reports

At the call. Calls behind a test (`if step % 100 == 0`) and in inner loops are left alone, and so are reads of what is
on the host: a batch before the loop moves it, a value that was fetched before.

## Example

```python
for images, labels in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    total += loss.item()
```

Keep the sum on the device:

```python
for images, labels in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    total += loss.detach()
```

## References

* https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
* https://github.com/huggingface/accelerate/issues/1714
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP701",
    name="host-sync-in-training-loop",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report reads of device values in every turn."""
    for call in facts.efficiency.host_syncs():
        yield RULE.finding(facts, call, "this waits for the device in every turn of the training loop")
