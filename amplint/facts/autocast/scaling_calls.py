"""Calls of wrappers that scale a loss: objects of a class in sight whose `__call__` hands it to a scaler of their own.

Goes by the name for what to look at, and by the class for what it is; refuses to follow a wrapper that may be another.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.classes import class_made, method
from amplint.model.tree import Attribute, Call, ClassDef, Expr, Name
from amplint.model.walks import last_name, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def scalers_called(facts: "Facts", call: Call) -> "Iterator[tuple[Facts, Expr]]":
    """The scalers of a wrapper with which a call of it scales what it is given, each in its module."""
    if not call.args or not isinstance(call.func, Name | Attribute) or "scaler" not in last_name(call.func).lower():
        return
    found = _class_of(facts, call.func)
    called = method(*found, "__call__") if found is not None else None
    if called is None:
        return
    home, function = called
    given = {parameter.name for parameter in function.parameters[1:]}
    for node in own_nodes(function):
        if not isinstance(node, Call) or not isinstance(node.func, Attribute) or node.func.attr != "scale":
            continue
        if any(isinstance(a.value, Name) and a.value.id in given for a in node.args):
            yield home, node.func.value


def _class_of(facts: "Facts", wrapper: Expr) -> "tuple[Facts, ClassDef] | None":
    """The class of which everything that a wrapper may be is made."""
    made = {class_made(origin.facts, origin.node) for origin in facts.values.origins(wrapper)}
    return made.pop() if len(made) == 1 else None
