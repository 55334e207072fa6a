"""Scalers that a method makes in the place of the one that its object has, and scales a single loss with.

Knows the class alone: the loop that calls the method may be anywhere.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.spelling import spelled
from amplint.knowledge.training_names import is_scaler
from amplint.model.tree import Assign, Attribute, Call, ClassDef, FunctionDef, Module, Name, With
from amplint.model.walks import own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def replaced(facts: "Facts") -> Iterator[tuple[Call, Call]]:
    """The constructor calls that do so, each with the one whose scaler it replaces."""
    for call in (call for call in facts.index.calls if facts.names.may_mean(call.func, is_scaler)):
        method = facts.index.function(call)
        if not isinstance(method, FunctionDef) or method.name == "__init__":
            continue
        klass, statement = facts.index.parents.get(method), facts.index.parents.get(call)
        if not isinstance(klass, ClassDef) or not isinstance(statement, Assign) or not _is_plain(facts, statement):
            continue
        match statement.targets:
            case (Attribute(value=Name(), attr=attr) as target,) if _scales_once(facts, method, target):
                first = _made_before(facts, klass, attr, method)
                if first is not None:
                    yield call, first
            case _:
                pass


def _is_plain(facts: "Facts", statement: Assign) -> bool:
    """Whether an assignment runs whenever its method does, once."""
    holder = facts.index.block(statement)[0]
    while isinstance(holder, With):
        holder = facts.index.block(holder)[0]
    return isinstance(holder, FunctionDef | Module)


def _scales_once(facts: "Facts", method: FunctionDef, scaler: Attribute) -> bool:
    """Whether a method scales, steps and updates with what it makes, and no loop in it does so again."""
    used = {
        node.func.attr: node
        for node in own_nodes(method)
        if isinstance(node, Call) and isinstance(node.func, Attribute) and spelled(node.func.value) == spelled(scaler)
    }
    return "scale" in used and all(not facts.index.loops(call) for call in used.values())


def _made_before(facts: "Facts", klass: ClassDef, attribute: str, method: FunctionDef) -> Call | None:
    """Where another method of the class makes the scaler of the same attribute."""
    for value in facts.attributes(klass).get(attribute, ()):
        if not isinstance(value, Call) or facts.index.function(value) is method:
            continue
        if facts.constructors.may_make(value, is_scaler):
            return value
    return None
