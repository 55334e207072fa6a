"""Calls of wrappers that scale a loss: objects of a class in sight whose `__call__` hands it to a scaler of their own.

Goes by the name for what to look at, and by the class for what it is; refuses to follow a wrapper that may be another.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.tree import Attribute, Call, ClassDef, Expr, Name
from amplint.model.walks import last_name, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def scalers_called(facts: "Facts", call: Call) -> "Iterator[tuple[Facts, Expr]]":
    """The scalers of a wrapper with which a call of it scales what it is given, each in its module."""
    if not call.args or not isinstance(call.func, Name | Attribute) or "scaler" not in last_name(call.func).lower():
        return
    found = _class_of(facts, call.func)
    method = found[0].targets.method(found[1], "__call__") if found is not None else None
    if method is None:
        return
    home, function = method
    given = {parameter.name for parameter in function.parameters[1:]}
    for node in own_nodes(function):
        if not isinstance(node, Call) or not isinstance(node.func, Attribute) or node.func.attr != "scale":
            continue
        if any(isinstance(a.value, Name) and a.value.id in given for a in node.args):
            yield home, node.func.value


def _class_of(facts: "Facts", wrapper: Expr) -> "tuple[Facts, ClassDef] | None":
    """The class of which everything that a wrapper may be is made."""
    found: set[tuple[Facts, ClassDef]] = set()
    for origin in facts.values.origins(wrapper):
        name = origin.facts.names.canonical(origin.node.func) if isinstance(origin.node, Call) else None
        target = origin.facts.definition(name) if name is not None else None
        if target is None or not isinstance(target[1], ClassDef):
            return None
        found.add((target[0], target[1]))
    return found.pop() if len(found) == 1 else None
