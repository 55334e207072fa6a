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
annotations and `isinstance` tests change along, aliases stay. `dtype=` and `cache_enabled=` are written out where a
region of another dtype is in the file or in a file that imports it. There is no fix where one use cannot be moved:
compatibility shims, subclasses, the class passed on as a value, `*args`, names that other modules import from here.

## Fix safety

Safe: the same numbers, bit for bit. Unsafe where TorchScript is used in the file, or where another file tests for the
old class.

## References

- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/pytorch/pytorch/pull/126527
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.migration import Plan, plan_dotted, plan_import, replacement
from amplint.facts.uses import ImportedApi, Role, Use
from amplint.knowledge.torch_api import Api
from amplint.model.edit import Applicability, Fix, FixKind
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Alias, ImportFrom
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP101",
    name="deprecated-amp-namespace",
    severity=Severity.ADVICE,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.BITWISE,
    since="0.1",
)
_KINDS = ("autocast", "GradScaler")
_EDITED_ALONG = (Role.ANNOTATION, Role.TYPE_TEST, Role.TARGET)


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at imports by name, at star imports, and at uses with dots."""
    statements: dict[ImportFrom, list[ImportedApi]] = {}
    for imported in facts.uses.imported:
        if _is_reported(imported.api, imported.alias, facts):
            statements.setdefault(imported.statement, []).append(imported)
    for statement, found in statements.items():
        yield from _at_import(statement, found, facts)
    for use in facts.uses.all:
        is_named_here = use.is_dotted or not use.bindings
        if is_named_here and use.role not in _EDITED_ALONG and _is_reported(use.api, use.node, facts):
            yield from _at_use(use, facts)


def _is_reported(api: Api, place: Alias | object, facts: Facts) -> bool:
    if api.kind not in _KINDS or api.deprecated is None or replacement(api, facts) is None:
        return False
    shims = facts.shims
    return not (shims.is_for_old_torch(place, api) or shims.expects_warning(place))  # type: ignore[arg-type]


def _at_import(statement: ImportFrom, found: list[ImportedApi], facts: Facts) -> Iterator[Finding]:
    plan = plan_import(found, facts)
    groups = [found] if plan is not None else [[each] for each in found]
    plans = [plan] if plan is not None else [plan_import(group, facts) for group in groups]
    if not any(plans):
        groups, plans = [found], [None]
    for group, each in zip(groups, plans, strict=True):
        names = " and ".join(f"`{i.api.kind}`" for i in group)
        module = group[0].api.name.rpartition(".")[0]
        notes = [
            Note(use.node.span, f"`{use.root.id}` is {use.role} here")
            for imported in group
            for use in facts.uses.of(imported.binding)
        ]
        yield RULE.finding(
            facts,
            statement if len(groups) == 1 else group[0].alias,
            f"{names} of `{module}` {'are' if len(group) > 1 else 'is'} deprecated since torch 2.4: use `torch.amp`",
            notes=tuple(sorted(notes, key=lambda note: note.span)),
            fix=_fix(each, f"import {names} from `torch.amp` and name the device at every use", facts),
            statement=statement.span,
        )


def _at_use(use: Use, facts: Facts) -> Iterator[Finding]:
    new = replacement(use.api, facts)
    assert new is not None
    aliases = [b.node for b in use.bindings if isinstance(b.node, Alias)]
    notes = tuple(Note(alias.span, "imported here") for alias in aliases if "amp" in alias.name)
    yield RULE.finding(
        facts,
        use.node,
        f'`{use.api.name}` is deprecated since torch 2.4: use `{new.name}("{use.api.device}", ...)`',
        notes=notes,
        fix=_fix(plan_dotted(use, facts), f"use `{new.name}` and name the device", facts),
    )


def _fix(plan: Plan | None, title: str, facts: Facts) -> Fix | None:
    if plan is None:
        return None
    target = facts.settings.target
    assumed = f" (torch {target} or newer is assumed)" if target.is_assumed else ""
    doubt = f"; {plan.doubt}" if plan.doubt else ""
    applicability = Applicability.UNSAFE if plan.doubt else Applicability.SAFE
    return Fix(title + assumed + doubt, FixKind.MIGRATION, applicability, plan.repairs)
