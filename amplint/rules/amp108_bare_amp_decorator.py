"""An autocast class, or a decorator that needs its device, is used without being called.

## What it does

Reports `@autocast` without parentheses, `@torch.amp.custom_fwd` and `@torch.amp.custom_bwd` without a call, and the
class itself in a `with` statement.

## Why it matters

A bare `@torch.cuda.amp.autocast` makes the function the flag `enabled` of a region that nobody enters: calling it with
a tensor raises a `TypeError` in torch 2.13 and gave back a wrapper without running anything in older ones. A bare
`@torch.amp.autocast` is a `ValueError`, a bare `@torch.amp.custom_fwd` a `TypeError` when the module is imported, and
`with autocast:` fails because a class is no context.

## Where it reports

At the decorator or the context. `@torch.cuda.amp.custom_fwd` without parentheses is right and not reported.

## Example

```python
@torch.cuda.amp.autocast
def forward(self, x): ...
```

Use instead:

```python
@torch.cuda.amp.autocast()
def forward(self, x): ...
```

## Fix

Calls it.

## Fix safety

Safe for the classes of `torch.cuda.amp` and `torch.cpu.amp`, which need no argument. Unsafe for the names of `torch`
and `torch.amp`: that `"cuda"` is meant is a guess.

## References

- https://github.com/pytorch/pytorch/pull/172178
- https://docs.pytorch.org/docs/stable/amp.html
"""

from collections.abc import Iterator

from amplint.facts.api.uses import Role, Use
from amplint.facts.gather import Facts
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Severity
from amplint.model.walks import dotted
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP108",
    name="bare-amp-decorator",
    severity=Severity.ERROR,
    fix=FixAvailability.ALWAYS,
    contract=Contract.RUN,
    since="0.1.0",
)
_CUSTOM = ("custom_fwd", "custom_bwd")


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at bare decorators and at classes used as context."""
    for use in facts.uses.all:
        is_region = use.api.kind == "autocast" and use.role in (Role.DECORATOR, Role.CONTEXT)
        is_custom = use.api.kind in _CUSTOM and use.role is Role.DECORATOR and use.api.device is None
        if is_region or is_custom:
            what = "a decorator" if use.role is Role.DECORATOR else "a context"
            message = f"`{use.api.name}` is used as {what} without being called"
            yield RULE.finding(facts, use.node, message, fix=_fix(use))


def _fix(use: Use) -> Fix:
    name = dotted(use.node)
    if use.api.device is not None:
        return Fix("call it", FixKind.REPAIR, Applicability.SAFE, (Replace(use.node.span, f"{name}()"),))
    argument = 'device_type="cuda"' if use.api.kind in _CUSTOM else '"cuda"'
    repairs = (Replace(use.node.span, f"{name}({argument})"),)
    return Fix("call it for CUDA (a guess)", FixKind.REPAIR, Applicability.UNSAFE, repairs)
