"""Where what a region computes runs backward: in its function, in one that it calls, or in one that it returns to.

Follows names through the functions of one module, one call up and one call down; refuses to follow attributes.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Region
from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.callers import bind
from amplint.facts.training.events import Event, EventKind
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Call,
    ClassDef,
    Expr,
    FunctionDef,
    Name,
    Node,
    Return,
)
from amplint.model.walks import assigned_value, own_nodes, own_returns, targets, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# What these give is a number, or is outside the graph.
DETACHING = frozenset({"item", "detach", "tolist", "numpy"})
MOST_SITES = 20


def backward_of(facts: "Facts", region: Region, function: FunctionDef) -> Call | None:
    """The first plain backward pass of something that a region of a function computes."""
    carrying = tainted(region, function)
    for event in _backwards(facts, function, carrying, None):
        if not are_exclusive(facts, region.opening, event.entry):
            return event.call
    if not _returns(facts, region, function, carrying):
        return None
    for home, site in facts.targets.sites(function)[:MOST_SITES]:
        caller = facts.index.function(site) if home is facts else None
        if isinstance(caller, FunctionDef):
            for event in _backwards(facts, caller, _grown(caller, set(_given(facts, site))), site):
                return event.call
    return None


def tainted(region: Region, function: FunctionDef) -> frozenset[str]:
    """The names of a function that carry something computed in a region, through assignments after it."""
    return _grown(function, {name for statement in region.body for node in walk(statement) for name in _bound(node)})


def _grown(function: FunctionDef, found: set[str]) -> frozenset[str]:
    """Some names of a function, and those that are assigned something of them."""
    is_growing = bool(found)
    while is_growing:
        is_growing = False
        for node in own_nodes(function):
            if not isinstance(node, Assign | AugAssign | AnnAssign) or node.value is None or not _bound(node) - found:
                continue
            if any(isinstance(each, Name) and each.id in found for each in walk(node.value)):
                found |= _bound(node)
                is_growing = True
    return frozenset(found)


def _backwards(facts: "Facts", function: FunctionDef, names: AbstractSet[str], made: Call | None) -> Iterator[Event]:
    """The backward passes of names that carry something, or of the call that makes it, in a function or its callee."""
    for event in facts.training.within(function.body):
        func = event.call.func
        if event.kind is not EventKind.BACKWARD or event.facts is not facts or not isinstance(func, Attribute):
            continue
        if not event.via and _carries(func.value, names, made):
            yield event
        if len(event.via) == 1 and isinstance(func.value, Name):
            passed = _passed(facts, event.entry, func.value)
            if passed is not None and _carries(passed, names, made):
                yield event


def _carries(value: Expr, names: AbstractSet[str], made: Call | None) -> bool:
    return any(node is made or (isinstance(node, Name) and node.id in names) for node in walk(value))


def _passed(facts: "Facts", call: Call, name: Name) -> Expr | None:
    """What a call passes as the parameter that a name of the function is which it runs, where nothing else binds it."""
    callee = facts.targets.function(call)
    if callee is None or callee[0] is not facts:
        return None
    bindings = facts.names.lookup(name.id, name)
    if len(bindings) != 1 or bindings[0].scope is not callee[1] or bindings[0].kind != "parameter":
        return None
    has_self = isinstance(facts.index.parents.get(callee[1]), ClassDef) and not callee[1].decorators
    return bind(callee[1], call, has_self=has_self).get(name.id)


def _returns(facts: "Facts", region: Region, function: FunctionDef, carrying: AbstractSet[str]) -> bool:
    """Whether a function returns what a region computes, as a part of the graph."""
    if facts.index.is_generator(function):
        return False
    inside = {node for statement in region.body for node in walk(statement) if isinstance(node, Return)}
    returned = (each for each in own_returns(function) if each.value is not None and not _is_detached(each.value))
    return any(each in inside or _carries(each.value, carrying, None) for each in returned if each.value is not None)


def _is_detached(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.func, Attribute) and value.func.attr in DETACHING


def _given(facts: "Facts", call: Call) -> Iterator[str]:
    """The names that are assigned what a call returns."""
    statement = facts.index.statement(call)
    value = assigned_value(statement)
    if value is not None and not isinstance(statement, AugAssign) and not _is_detached(value):
        yield from _bound(statement)


def _bound(node: Node) -> set[str]:
    """The names that an assignment gives a value."""
    places = targets(node) if assigned_value(node) is not None else ()
    return {each.id for place in places for each in walk(place) if isinstance(each, Name)}
