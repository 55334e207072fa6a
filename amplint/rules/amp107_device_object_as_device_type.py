"""Autocast is given a torch.device or an indexed device where it takes a device type.

## What it does

Reports `torch.autocast(torch.device("cuda"))`, a name or attribute that holds a `torch.device`, and strings with an
index such as `"cuda:0"`.

## Why it matters

A `torch.device` raises a `ValueError` in torch 2.4 and newer (2.13 included), a `RuntimeError` before. A string with an
index was rejected up to torch 2.3; since then it is accepted and passes by the checks for exactly `"cuda"`: without a
GPU the region stays enabled, and an unsupported dtype is not noticed.

## Where it reports

At the argument. An attribute `.device` counts only where all assignments to it in the class are a `torch.device`.

## Example

```python
device = torch.device("cuda:0")
with torch.autocast(device):
    ...
```

Use instead:

```python
with torch.autocast(device.type):
    ...
```

## Fix

Asks the object for its `type`; takes the index off a string.

## Fix safety

Safe: torch rejects the object, and the device type is the part of it that autocast can mean.

## References

- https://github.com/pytorch/pytorch/pull/153539
- https://github.com/mosaicml/llm-foundry/pull/302
"""

from collections.abc import Iterator

from amplint.facts.api.arguments import Form, fit, form
from amplint.facts.api.uses import constant_text
from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import Slot
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Argument, Call, Constant, Expr
from amplint.model.walks import dotted
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP107",
    name="device-object-as-device-type",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.RUN,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at device arguments of autocast, custom_fwd, custom_bwd and the queries."""
    for use in facts.uses.all:
        if use.call is None or use.api.device is not None or use.api.kind in ("GradScaler", "ShardedGradScaler"):
            continue
        for name, argument in fit(use.call, use.api, facts).given.items():
            param = use.api.param(name)
            if param is not None and param.slot is Slot.DEVICE and argument in use.call.args:
                yield from _at(argument, use.api.name, facts)


def _at(argument: Argument, callee: str, facts: Facts) -> Iterator[Finding]:
    value = argument.value
    text = constant_text(value)
    if text is not None and ":" in text:
        new = text.partition(":")[0]
        fix = Fix(
            f'give the device type "{new}"', FixKind.REPAIR, Applicability.SAFE, (Replace(value.span, f'"{new}"'),)
        )
        message = f"`{callee}` takes a device type: `{text}` passes by its checks for `{new}`, and torch 2.3 rejects it"
        yield RULE.finding(facts, value, message, fix=fix, severity=Severity.WARNING)
    elif form(value, facts) is Form.DEVICE:
        message = f"`{callee}` takes a device type such as `cuda`, and raises ValueError for a `torch.device`"
        yield RULE.finding(facts, value, message, fix=_typed(value))


def _typed(value: Expr) -> Fix | None:
    title = "give the type of the device"
    path = dotted(value)
    if path is not None:
        return Fix(title, FixKind.REPAIR, Applicability.SAFE, (Replace(value.span, f"{path}.type"),))
    if isinstance(value, Call) and len(value.args) == 1 and not value.args[0].star:
        inner = value.args[0].value
        text = constant_text(inner)
        if isinstance(inner, Constant) and text is not None:
            new = text.partition(":")[0]
            return Fix(title, FixKind.REPAIR, Applicability.SAFE, (Replace(value.span, f'"{new}"'),))
    return None
