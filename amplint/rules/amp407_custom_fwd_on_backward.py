"""`custom_fwd` decorates a backward, or `custom_bwd` a forward.

## What it does

Finds the two decorators for custom autograd functions on the wrong method.

## Why it matters

`custom_fwd` records on `ctx` whether the forward ran under autocast, and `custom_bwd` reads it. On the wrong methods
the first call of the function under a gradient fails: "'…Backward' object has no attribute '_fwd_used_autocast'", or
the backward runs in a state that nobody chose.

## Where it reports

At the decorator.

## Example

```python
class Square(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.amp.custom_bwd
* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py#L478
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP407",
    name="custom-fwd-on-backward",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report the two decorators on each other's methods."""
    for swapped in facts.autograd_functions.swapped():
        message = f"{swapped.method.name} needs {swapped.wanted}, not the decorator of the other method"
        yield RULE.finding(facts, swapped.decorator, message)
