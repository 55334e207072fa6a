"""A function with an autocast region is compiled by TorchScript.

## What it does

Finds autocast regions and decorators in functions that are given to `torch.jit.script`.

## Why it matters

TorchScript has its own, smaller autocast: decorators are not supported, the region's arguments must be constants, and
what is fused inside may ignore it. Scripted code that reads well in Python stops with an error, or runs in another
dtype. The pages of torch call the combination experimental. Opt-in: regions with constant arguments do compile.

## Where it reports

At the region; where scripting is asked for is a note.

## Example

```python
@torch.jit.script
def head(x, weight):
    with torch.autocast("cuda"):
        return x @ weight
```

Keep the region outside of what is scripted:

```python
@torch.jit.script
def head(x, weight):
    return x @ weight
```

## References

* https://github.com/pytorch/pytorch/issues/140279
* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP410",
    name="scripted-autocast",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report regions in scripted functions."""
    for scripted in facts.handoffs.scripted():
        note = Note(scripted.script.span, "scripted here")
        how = "an autocast decorator is not supported" if scripted.is_decorator else "autocast is limited"
        yield RULE.finding(facts, scripted.region.shown, f"{how} in TorchScript", notes=(note,))
