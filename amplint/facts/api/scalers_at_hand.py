"""Attributes that are taken of objects which are certainly PyTorch gradient scalers.

Knows only names and `self` attributes whose every assignment constructs a scaler; refuses all others.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.knowledge import torch_api
from amplint.model.tree import Assign, Attribute, Call, ClassDef, Expr, IfExp, Name, Node
from amplint.model.walks import dotted

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def scaler_attributes(facts: "Facts") -> Iterator[Attribute]:
    """Every `scaler.something` where the scaler is certain."""
    if not any(use.api.kind == "GradScaler" for use in facts.uses.all):
        return
    fields = _fields(facts)
    for node in facts.index.each(Attribute):
        if _is_scaler(node.value, fields, facts):
            yield node


def _fields(facts: "Facts") -> set[tuple[ClassDef | None, str]]:
    """The `self.name` of each class, as paths, to which nothing but scalers is assigned."""
    good: set[tuple[ClassDef | None, str]] = set()
    bad: set[tuple[ClassDef | None, str]] = set()
    for node in facts.index.each(Assign):
        for target in node.targets:
            path = dotted(target)
            if isinstance(target, Attribute) and path is not None:
                key = (facts.index.klass(node), path)
                (good if _constructs(node.value, facts) else bad).add(key)
    return good - bad


def _is_scaler(expr: Expr, fields: set[tuple[ClassDef | None, str]], facts: "Facts") -> bool:
    if isinstance(expr, Name):
        bindings = facts.names.lookup(expr.id, expr)
        return bool(bindings) and all(b.value is not None and _constructs(b.value, facts) for b in bindings)
    owner = facts.index.klass(expr)
    return isinstance(expr, Attribute) and owner is not None and (owner, dotted(expr) or "") in fields


def _constructs(value: Node, facts: "Facts") -> bool:
    if isinstance(value, IfExp):
        return _constructs(value.body, facts) and _constructs(value.orelse, facts)
    if not isinstance(value, Call):
        return False
    found = torch_api.api(facts.names.canonical(value.func) or "")
    return found is not None and found.kind == "GradScaler"
