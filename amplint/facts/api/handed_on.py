"""Calls of the AMP API by a name that a module of the project imports from torch and hands on.

Knows only names with one meaning: a module that chooses between versions hands on something else.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.api.uses import Role, Use
from amplint.knowledge import torch_api
from amplint.knowledge.torch_api import Api
from amplint.model.tree import Constant, If, Module, Node
from amplint.model.walks import root_of

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_MOST_HANDS = 4


def handed_on(facts: "Facts") -> Iterator[Use]:
    """The calls of a module whose callee is an API that came through other modules of the project."""
    behind: dict[str, Api | None] = {}
    for call in facts.index.calls:
        root = root_of(call.func)
        canonical = facts.names.canonical(call.func) if root is not None else None
        if root is None or canonical is None or torch_api.api(canonical) is not None:
            continue
        if canonical not in behind:
            behind[canonical] = _api_behind(canonical, facts)
        api = behind[canonical]
        if api is not None:
            yield Use(call.func, root, api, Role.CALL, (), call)


def _api_behind(canonical: str, facts: "Facts") -> Api | None:
    """What a dotted name of the project stands for, import after import."""
    for _ in range(_MOST_HANDS):
        module, _, name = canonical.rpartition(".")
        outline = facts.context.modules.outline(module)
        if outline is not None and (outline.defines(name) or not outline.may_hold((name,))):
            return None
        owner = facts.context.modules.get(module)
        bindings = owner.names.bindings(owner.module).get(name, ()) if owner is not None else ()
        if owner is None or len(bindings) != 1 or bindings[0].kind != "import" or bindings[0].canonical is None:
            return None
        if not _is_unconditional(owner, bindings[0].node):
            return None
        facts, canonical = owner, bindings[0].canonical
        api = torch_api.api(canonical)
        if api is not None:
            return api
    return None


def _is_unconditional(facts: "Facts", node: Node) -> bool:
    """Whether an import of a module runs whatever is asked there."""
    holder = facts.index.parents[facts.index.statement(node)]
    while isinstance(holder, If) and isinstance(holder.test, Constant) and holder.test.value is True:
        holder = facts.index.parents[holder]
    return isinstance(holder, Module)
