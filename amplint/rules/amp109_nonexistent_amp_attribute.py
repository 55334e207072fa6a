"""An attribute is taken of torch's AMP packages, of a GradScaler or of torch.backends that does not exist.

## What it does

Reports names of `torch.amp`, `torch.cuda.amp` and `torch.cpu.amp` that no version has, settings such as
`torch.backends.cuda.matmul.allow_bf16`, and attributes of a `GradScaler` such as `_found_inf` or `unscale`.

## Why it matters

Reading one is an `AttributeError`, often in a branch that runs for the first time when a step overflows. Assigning one
to `torch.backends.cudnn` raises nothing and sets nothing: the precision stays what it was.

## Where it reports

At the attribute. Only objects that are certainly a `GradScaler` count; attributes that the module itself assigns to,
and names that it tests for with `hasattr` or in a `try`, are left alone.

## Example

```python
torch.backends.cuda.matmul.allow_bf16 = True
if scaler._found_inf.item():
    ...
```

Use instead:

```python
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
if scaler.get_scale() < scale_before:
    ...
```

## Fix

Writes the name that exists, where the wrong one has an evident counterpart.

## Fix safety

Unsafe: the code never worked, so what it should do is a guess.

## References

- https://docs.pytorch.org/docs/stable/backends.html
- https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.api.scalers_at_hand import scaler_attributes
from amplint.facts.gather import Facts
from amplint.knowledge import torch_api
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Alias, Attribute, ImportFrom, Name, Node
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP109",
    name="nonexistent-amp-attribute",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.RUN,
    since="0.1.0",
)
_MATMUL = "torch.backends.cuda.matmul"
_CUDNN = "torch.backends.cudnn"


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at attributes of packages, of settings and of scalers, and at imports by name."""
    attributes = facts.index.each(Attribute)
    for node in attributes:
        if _may_name_torch(node, facts):
            yield from _at_attribute(node, facts)
    for alias in facts.index.each(Alias):
        yield from _at_import(alias, facts)
    assigned = {node.attr for node in attributes if _is_target(node, facts)}
    for attribute in scaler_attributes(facts):
        known = attribute.attr in torch_api.SCALER_METHODS | torch_api.SCALER_PRIVATE or attribute.attr in assigned
        if not known and not attribute.attr.startswith("__") and not facts.shims.is_tried(attribute):
            hint = torch_api.SCALER_WELL_MEANT.get(attribute.attr)
            message = f"a GradScaler has no `{attribute.attr}`" + (f": {hint}" if hint else "")
            yield RULE.finding(facts, attribute, message)


def _may_name_torch(node: Attribute, facts: Facts) -> bool:
    inner = node.value
    return isinstance(inner, Attribute | Name) and not isinstance(facts.index.parents[node], Alias)


def _at_attribute(node: Attribute, facts: Facts) -> Iterator[Finding]:
    owner = facts.names.canonical(node.value)
    if owner is None or not owner.startswith("torch."):
        return
    dotted = f"{owner}.{node.attr}"
    is_missing = (
        (owner == _MATMUL and node.attr not in torch_api.MATMUL_NAMES)
        or (owner == _CUDNN and node.attr in torch_api.CUDNN_NEVER)
        or _is_missing(owner, node.attr)
    )
    is_patch = owner in torch_api.PACKAGE_NAMES and _is_target(node, facts)
    if is_missing and not is_patch and not facts.shims.is_tried(node) and not _is_probed(dotted, node, facts):
        yield RULE.finding(facts, node, _message(dotted), fix=_fix(node, dotted))


def _at_import(alias: Alias, facts: Facts) -> Iterator[Finding]:
    statement = facts.index.parents[alias]
    if not isinstance(statement, ImportFrom) or statement.level or alias.name == "*":
        return
    if _is_missing(statement.module, alias.name) and not facts.shims.is_tried(alias):
        yield RULE.finding(facts, alias, _message(f"{statement.module}.{alias.name}"))


def _is_missing(owner: str, name: str) -> bool:
    public = torch_api.PACKAGE_NAMES.get(owner)
    return public is not None and name not in public and not name.startswith("_")


def _message(dotted: str) -> str:
    meant = torch_api.WELL_MEANT.get(dotted)
    return f"torch has no `{dotted}`" + (f"; there is `{meant}`" if meant else "")


def _fix(node: Attribute, dotted: str) -> Fix | None:
    meant = torch_api.WELL_MEANT.get(dotted)
    if meant is None or meant in torch_api.APIS:  # those take other arguments
        return None
    owner, _, name = meant.rpartition(".")
    is_neighbour = dotted.rpartition(".")[0] == owner
    repair = Replace(node.attr_span, name) if is_neighbour else Replace(node.span, f"${{{meant}}}")
    return Fix(f"use `{meant}` (a guess)", FixKind.REPAIR, Applicability.UNSAFE, (repair,))


def _is_target(node: Attribute, facts: Facts) -> bool:
    return node in getattr(facts.index.parents[node], "targets", ())


def _is_probed(dotted: str, node: Node, facts: Facts) -> bool:
    """Whether a condition around the place asks whether the name exists."""
    return any(dotted in choice.arm.has for choice in facts.shims.choices(node))
