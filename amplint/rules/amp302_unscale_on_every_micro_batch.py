"""`unscale_` runs before the last backward of a group of micro-batches.

## What it does

Finds `unscale_` outside the test that lets the optimizer step at group boundaries only, and scaled backwards that
follow an `unscale_` before the step. Under Accelerate: `accelerator.clip_grad_norm_` and its like in an `accumulate`
block of several micro-batches, where nobody asks for `accelerator.sync_gradients`.

## Why it matters

The second micro-batch raises `RuntimeError: unscale_() has already been called on this optimizer since the last
update().` Where it does not, unscaled and scaled gradients are summed: the last micro-batch counts thousands of times
as much.

## Where it reports

At the `unscale_`, with the backward and the step as notes; at the call that makes an Accelerator unscale.

## Example

```python
for i, (images, labels) in enumerate(loader):
    scaler.scale(criterion(model(images), labels) / 4).backward()
    scaler.unscale_(optimizer)
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
```

## Fix

Moves the `unscale_`, with the clips behind it, to the step that waits for the end of the group. None where another path
needs it at its place, and none under Accelerate.

## Fix safety

Safe with one scaler and one optimizer, for torch raises at the second micro-batch; unsafe otherwise.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation
* https://github.com/microsoft/Swin-Transformer/issues/311
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import DefectKind
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.protocol_moves import into_boundary
from amplint.rules.protocol_report import optimizer_name, report
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP302",
    name="unscale-on-every-micro-batch",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report unscale_ calls that do not wait for the end of a group."""
    for defect in facts.defects.of(DefectKind.MICRO_UNSCALE):
        message = f"the gradients of `{optimizer_name(defect)}` are unscaled before the last backward of the group"
        yield report(RULE, defect, message, missed="stepped only here", fix=into_boundary(defect))
    for call, accelerator in facts.accumulation.by_accelerate.unscaled_on_every_turn():
        message = "this unscales on every micro-batch; ask for `accelerator.sync_gradients` first"
        yield RULE.finding(facts, call, message, notes=(Note(accelerator.span, "groups have several turns here"),))
