"""custom_fwd or custom_bwd is taken from the deprecated namespace torch.cuda.amp.

## What it does

Reports `custom_fwd` and `custom_bwd` of `torch.cuda.amp`: imported by name, reached with dots, or through an alias of
the module.

## Why it matters

Since torch 2.4 both print a `FutureWarning` when a class is decorated, that is at import, for every user of the
package. The new ones need the keyword `device_type` and work in the form with parentheses only: a bare
`@torch.amp.custom_fwd` is a `TypeError` at import, so changing nothing but the import breaks the module.

## Where it reports

At the import statement, with the uses as notes; at each use that is written with dots. Silent where the oldest
supported torch is below 2.4, and in the arms of a compatibility shim that only old torch reaches.

## Example

```python
from torch.cuda.amp import custom_bwd, custom_fwd

class Exp(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x): ...

    @staticmethod
    @custom_bwd
    def backward(ctx, grad): ...
```

Use instead:

```python
from torch.amp import custom_bwd, custom_fwd

class Exp(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32, device_type="cuda")
    def forward(ctx, x): ...

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, grad): ...
```

## Fix

Moves the import and gives every use `device_type="cuda"`, the device that the old decorators stand for. There is no
fix where one use cannot be moved: shims, the decorator passed on as a value, names that other modules import from here.

## Fix safety

Safe: the old decorators are the new ones with that device.

## References

- https://docs.pytorch.org/docs/stable/amp.html#torch.amp.custom_fwd
- https://github.com/state-spaces/mamba/pull/596
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.deprecation import Deprecation
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP102",
    name="deprecated-custom-fwd-bwd",
    severity=Severity.ADVICE,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.BITWISE,
    since="0.1.0",
)
_DEPRECATION = Deprecation(RULE, ("custom_fwd", "custom_bwd"), '{name}(device_type="{device}")')


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at imports by name, at star imports, and at uses with dots."""
    yield from _DEPRECATION.findings(facts)
