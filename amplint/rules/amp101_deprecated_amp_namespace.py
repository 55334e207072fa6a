"""Autocast or GradScaler is taken from the deprecated namespaces torch.cuda.amp or torch.cpu.amp.

## What it does

Reports `autocast` and `GradScaler` of `torch.cuda.amp` and `torch.cpu.amp`: imported by name, reached with dots,
through an alias of the module, or by a star import.

## Why it matters

Since torch 2.4 every construction of the old classes prints a `FutureWarning`, and the names are to be removed. The
classes are not mere aliases: the old `autocast` takes `enabled` first and pins float16 (bfloat16 on the CPU), the new
one takes the device first and inherits the dtype of the region around it; and an object of the new `GradScaler` is no
instance of the old one, so that `isinstance(scaler, torch.cuda.amp.GradScaler)` turns false without a word.

## Where it reports

At the import statement, with the uses as notes; at each use that is written with dots. Silent below the first torch
that has the replacement (1.10 for autocast, 2.3 for GradScaler), in the arms that only old torch reaches, where the
name is assigned to, and in tests that expect the warning.

## Example

```python
from torch.cuda.amp import autocast, GradScaler

scaler = GradScaler(1024.0)
with autocast(use_amp):
    loss = model(x)
```

Use instead:

```python
from torch.amp import autocast, GradScaler

scaler = GradScaler("cuda", init_scale=1024.0)
with autocast("cuda", enabled=use_amp):
    loss = model(x)
```

## Fix

Moves the import and every use together: positional arguments get their names before the device is put first,
annotations and `isinstance` tests change along, aliases stay. `dtype=` is written out where a region of another dtype
is in the file or in a file that imports it, and `cache_enabled=` where one without the cache is. There is no fix
where one use cannot be moved: compatibility shims, subclasses, the class passed on as a value, `*args`, names that
other modules import from here.

## Fix safety

Safe: the same numbers, bit for bit. Unsafe where TorchScript is used in the file, or where another file tests for the
old class.

## References

- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/pytorch/pytorch/pull/126527
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.deprecation import Deprecation
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP101",
    name="deprecated-amp-namespace",
    severity=Severity.ADVICE,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.BITWISE,
    since="0.1.0",
)
_DEPRECATION = Deprecation(RULE, ("autocast", "GradScaler"), '{name}("{device}", ...)')


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at imports by name, at star imports, and at uses with dots."""
    yield from _DEPRECATION.findings(facts)
