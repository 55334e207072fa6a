"""The autocast state is asked or set by a function for one device, which torch has replaced.

## What it does

Reports `torch.get_autocast_gpu_dtype`, `torch.is_autocast_cpu_enabled`, `torch.set_autocast_cpu_dtype` and the like
for `gpu`, `cpu`, `xla` and `ipu`. `torch.is_autocast_enabled()` without a device means CUDA and is not deprecated.

## Why it matters

Since torch 2.4 each call prints a `DeprecationWarning`, and code written with these names supports just the device in
the name: a custom autograd function that asks for the GPU dtype casts wrongly on every other accelerator.

## Where it reports

At the use, or at the import by name. Silent where the oldest supported torch is below 2.4, and in the arms of a
compatibility shim that only old torch reaches.

## Example

```python
dtype = torch.get_autocast_gpu_dtype()
if torch.is_autocast_cpu_enabled():
    dtype = torch.get_autocast_cpu_dtype()
```

Use instead:

```python
dtype = torch.get_autocast_dtype("cuda")
if torch.is_autocast_enabled("cpu"):
    dtype = torch.get_autocast_dtype("cpu")
```

## Fix

Writes the function that takes the device, and the device first. Imports by name have no fix, for the new function has
another name.

## Fix safety

Safe: the same question to the same state.

## References

- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/huggingface/transformers/pull/43509
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import APIS
from amplint.model.finding import Finding, Severity
from amplint.rules.deprecation import Deprecation
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP104",
    name="deprecated-autocast-query",
    severity=Severity.ADVICE,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.BITWISE,
    since="0.1.0",
)
_OLD = tuple(api.kind for api in APIS.values() if api.is_query and api.deprecated is not None)
_DEPRECATION = Deprecation(RULE, _OLD, '{name}("{device}")')


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at imports by name and at uses with dots."""
    yield from _DEPRECATION.findings(facts)
