"""Words for a scaler that serve nothing: one that is made, or taken as a parameter, and then neither scales nor steps.

Goes by handles and by the callees in sight; whatever else may use a scaler counts as a use.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callers import all_importers
from amplint.facts.training.events import Handle
from amplint.knowledge import training_names as known
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    Call,
    ClassDef,
    Compare,
    FunctionDef,
    Module,
    Name,
    Node,
    Parameter,
)
from amplint.model.walks import is_none, last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_KEEPING = frozenset({"state_dict", "load_state_dict", "get_scale", "is_enabled"})
_DEPTH = 3


def idle_words(facts: "Facts") -> frozenset[Node]:
    """The nodes of a module that name a scaler, or its class, where nothing comes of it."""
    made = frozenset(scalers_made(facts))
    found: set[Node] = set()
    for function in facts.index.functions:
        named = _names_in(function) if function.parameters else {}
        found.update(p for p in function.parameters if _is_idle_parameter(facts, named, p, _DEPTH))
    holders = {facts.training.handle(target): target for target in _targets(facts, made)}
    for handle, mentions in _mentions(facts, holders).items():
        holder = holders[handle]
        if not _is_exported(facts, holder) and all(_is_idle(facts, node, _DEPTH) for node in mentions):
            found.update(mentions)
            found.update(node for each in facts.values.origins(holder, is_local=True) for node in _parts(each.node))
            found.update(outer for node in mentions if isinstance(outer := facts.index.parents[node], Argument))
    return frozenset(found)


def scalers_made(facts: "Facts") -> Iterator[Call]:
    """The calls of a module that make a scaler; they serve nothing where all words for them are idle."""
    return (call for call in facts.index.calls if any(map(known.is_scaler, facts.constructors.names(call))))


def serves_nothing(facts: "Facts", made: list[Call]) -> bool:
    """Whether all scalers that some calls make are idle, and kept by no object that others may use unseen."""
    holders = [facts.index.parents.get(call) for call in made]
    is_local = all(isinstance(each, Assign) and all(isinstance(t, Name) for t in each.targets) for each in holders)
    return is_local and idle_words(facts).issuperset(made)


def _targets(facts: "Facts", made: frozenset[Call]) -> Iterator[Name | Attribute]:
    """The names and attributes that are given what the calls make, and nothing else but None."""
    for node in facts.index.nodes if made else ():
        if isinstance(node, Name | Attribute) and facts.index.is_target(node) and last_name(node):
            origins = facts.values.origins(node, is_local=True)
            if origins and all(o.node in made or (o.node is not None and is_none(o.node)) for o in origins):
                yield node


def _parts(made: Node | None) -> Iterator[Node]:
    """What is written where a scaler is made: the name of its class, and what it is given."""
    return walk(made) if made is not None else iter(())


def _mentions(
    facts: "Facts", holders: dict[Handle | None, Name | Attribute]
) -> dict[Handle | None, list[Name | Attribute]]:
    """Where a module mentions what some names and attributes hold, by their handles."""
    names = {last_name(holder) for holder in holders.values()}
    found: dict[Handle | None, list[Name | Attribute]] = {handle: [] for handle in holders}
    for node in facts.index.nodes if holders else ():
        if isinstance(node, Name | Attribute) and last_name(node) in names:
            handle = facts.training.handle(node)
            if handle in found:
                found[handle].append(node)
    return found


def _is_idle(facts: "Facts", mention: Node, depth: int) -> bool:
    """Whether a mention uses no scaler: it sets the name, keeps its state, or hands it to what ignores it."""
    index = facts.index
    if index.is_target(mention):
        return True
    match index.parents.get(mention):
        case Attribute(attr=attr):
            return attr in _KEEPING
        case Compare(comparators=[other]):
            return is_none(other)
        case Argument() as given:
            call = index.parents.get(given)
            return depth > 0 and isinstance(call, Call) and _ignores(facts, call, mention, depth - 1)
        case _:
            return False


def _ignores(facts: "Facts", call: Call, given: Node, depth: int) -> bool:
    """Whether the function that a call runs makes nothing of what it is given."""
    callee = facts.targets.function(call)
    if callee is None:
        return False
    home, function = callee
    taking = [p for p in function.parameters if facts.targets.argument(call, callee, p) is given]
    named = _names_in(function) if taking else {}
    return bool(taking) and all(_is_idle_parameter(home, named, each, depth) for each in taking)


def _names_in(function: FunctionDef) -> dict[str, list[Name]]:
    """The mentions of each name anywhere in a function."""
    found: dict[str, list[Name]] = {}
    for node in walk(function):
        if isinstance(node, Name):
            found.setdefault(node.id, []).append(node)
    return found


def _is_idle_parameter(facts: "Facts", named: dict[str, list[Name]], parameter: Parameter, depth: int) -> bool:
    """Whether a parameter is one by name alone: no `**`, and no mention of it in its function that uses it."""
    if parameter.kind in ("*", "**"):
        return False
    inside = named.get(parameter.name, ())
    return all(_is_idle(facts, node, depth) and not facts.index.is_target(node) for node in inside)


def _is_exported(facts: "Facts", holder: Name | Attribute) -> bool:
    """Whether another module may use it: by the name of a module's global, or through an object of the class."""
    scope = facts.index.klass(holder) if isinstance(holder, Attribute) else facts.index.scope(holder)
    if not isinstance(scope, Module | ClassDef):
        return False
    name = last_name(holder)
    names = {name} if isinstance(scope, Module) else {scope.name}
    importers = (home for home in all_importers(facts, names) if home is not facts)
    return any(
        (isinstance(node, Name) and node.id == name) or (isinstance(node, Attribute) and node.attr == name)
        for home in importers
        for node in home.index.nodes
    )
