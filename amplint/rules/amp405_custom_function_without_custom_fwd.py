"""A custom autograd function computes matrix products, and nothing tells it about autocast.

## What it does

Finds subclasses of `torch.autograd.Function` whose forward contains an operation that autocast runs in half
precision, and whose backward multiplies matrices or convolves, with neither `custom_fwd`/`custom_bwd` nor any look at
the autocast state; and those that have `custom_bwd` on backward and nothing on forward.

## Why it matters

Inside a region the forward's products come out in half precision while the saved tensors stay float32. The backward
runs outside the region and multiplies the two: "expected m1 and m2 to have the same dtype, but got: c10::Half !=
float".
`custom_fwd` and `custom_bwd` make forward and backward agree; `cast_inputs=torch.float32` keeps the function out of
autocast. Opt-in, because a function that is never used under autocast is fine as it is.

## Where it reports

At the forward; the first operation that autocasts is a note. Functions without a backward, or with one that works on
elements alone (they are promoted) or raises, functions that only call an extension, and functions that cast by hand
are left alone.

## Example

```python
class Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.t(), x.t() @ grad
```

Decorate both:

```python
class Project(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.t(), x.t() @ grad
```

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#autocast-and-custom-autograd-functions
* https://github.com/pytorch/pytorch/issues/38487
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP405",
    name="custom-function-without-custom-fwd",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report custom functions that autocast changes without their knowing."""
    for bare in facts.autograd_functions.bare():
        if bare.is_half_decorated:
            note = Note(bare.operation.span, "this reads what custom_fwd leaves in the context")
            message = f"{bare.klass.name} has custom_bwd without custom_fwd, so its backward raises an AttributeError"
        else:
            note = Note(bare.operation.span, "autocast runs this in half precision")
            message = (
                f"{bare.klass.name} has no custom_fwd and custom_bwd, so its backward meets mixed dtypes under autocast"
            )
        yield RULE.finding(facts, bare.forward.name_span, message, notes=(note,))
