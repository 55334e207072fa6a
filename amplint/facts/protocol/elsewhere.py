"""Whether what a reading lacks is done by a function outside of it, with the same scaler as far as names tell.

Knows no paths; refuses to say more than that some function calls a method of what may be the same object.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callers import all_importers
from amplint.facts.program.classes import class_of_self, lookup_order
from amplint.facts.protocol.readings import Reading
from amplint.flow.terms import Term
from amplint.knowledge.training_names import is_scaler
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node
from amplint.model.walks import last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_done_elsewhere(reading: Reading, scaler: Term, method: str) -> bool:
    """Whether a function that is not part of the reading calls a method of something that has the scaler's name.

    An attribute may be used wherever its class is known, a local name in its module; but not what is surely another
    object of that name. What functions give to everybody who asks for it may go by any name where they are called.
    """
    if _is_got(reading, scaler, method):
        return True
    name, is_attribute = str(scaler[2] if scaler[0] == "attr" else scaler[1]), scaler[0] == "attr"
    home = reading.scene.facts
    seen = {frame.function for frame in reading.scene.frames}
    homes = (*all_importers(home, {name}), *_bases(reading)) if is_attribute else (home,)
    return any(
        isinstance(call.func, Attribute)
        and (call.func.attr, last_name(call.func.value)) == (method, name)
        and other.index.function(call) not in seen
        and not (method == "step" and _has_rounds(other, call, name))
        and not _is_another(reading, scaler, other, call.func.value)
        for other in homes
        for call in other.index.calls
    )


def _is_got(reading: Reading, scaler: Term, method: str) -> bool:
    """Whether a function that is not part of the reading asks for a scaler, and calls a method of something."""
    seen = {frame.function for frame in reading.scene.frames}
    return any(
        callers[method] & callers[giver.name] - seen
        for giver, home in reading.scene.getters.givers.get(scaler, {}).items()
        for importer in all_importers(home, {giver.name})
        for callers in (_callers(importer, {method, giver.name}),)
    )


def _callers(home: "Facts", names: set[str]) -> dict[str, set[Node | None]]:
    """The functions of a module that call something by each of some last names."""
    found: dict[str, set[Node | None]] = {name: set() for name in names}
    for call in home.index.calls:
        if (name := last_name(call.func)) in found:
            found[name].add(home.index.function(call))
    return found


def _has_rounds(home: "Facts", step: Call, name: str) -> bool:
    """Whether the function of a step scales a loss of its own before and updates behind: its step is of that."""
    function = home.index.function(step)
    own = (call.func for call in home.index.calls if home.index.function(call) is function)
    called = {func.attr for func in own if isinstance(func, Attribute) and last_name(func.value) == name}
    return {"scale", "update"} <= called


def _is_another(reading: Reading, scaler: Term, other: "Facts", named: Expr) -> bool:
    """Whether an expression with a scaler's name is about another one.

    That is what another function makes for itself, anything outside of the function that makes the scaler and keeps it
    to itself, and an attribute of `self` in a class that shares no object with the root's.
    """
    makers = _makers(other, named) if isinstance(named, Name) else []
    if makers:
        return scaler[0] == "attr" or _maker(reading, scaler) not in makers
    match scaler, named:
        case ("name", str(name), int(frame)), _:
            maker = _maker(reading, scaler)
            if maker is None or maker in other.index.ancestors(named):
                return False
            return isinstance(named, Name) or _is_kept(reading.scene.homes[frame], maker, name)
        case ("attr", ("name", "self", 0), _), Attribute(value=Name(id="self") as receiver):
            own, found = reading.root.klass, class_of_self(other, receiver)
            return own is not None and found is not None and not _may_share_objects(own, found)
        case _:
            return False


def _maker(reading: Reading, scaler: Term) -> Node | None:
    """The function that makes a scaler for itself."""
    match scaler:
        case ("name", str(name), int(frame)):
            function = reading.scene.frames[frame].function
            bindings = reading.scene.homes[frame].names.bindings(function).get(name, ())
            is_own = isinstance(function, FunctionDef) and all(binding.value is not None for binding in bindings)
            return function if is_own else None
        case _:
            return None


def _is_kept(home: "Facts", function: Node, name: str) -> bool:
    """Whether a function does nothing with a name of its own but to call methods of it."""
    uses = (node for node in walk(function) if isinstance(node, Name) and node.id == name)
    return all(home.index.is_target(use) or isinstance(home.index.parents.get(use), Attribute) for use in uses)


def _makers(home: "Facts", name: Name) -> list[Node]:
    """The functions that a name is local to, where all that it can be is a scaler made there."""
    bindings = home.names.lookup(name.id, name)
    values = [binding.value for binding in bindings if isinstance(binding.scope, FunctionDef)]
    is_made = all(home.constructors.may_make(value, is_scaler) for value in values)
    return [binding.scope for binding in bindings] if is_made and len(values) == len(bindings) else []


def _may_share_objects(one: "tuple[Facts, ClassDef]", two: "tuple[Facts, ClassDef]") -> bool:
    """Whether some class in the modules of two has both among itself and its bases."""
    homes = {home.path: home for home, _ in (one, two)}.values()
    families = ({klass for _, klass in lookup_order(home, k)} for home in homes for k in home.index.each(ClassDef))
    return any({one[1], two[1]} <= family for family in families)


def _bases(reading: Reading) -> "Iterator[Facts]":
    """The modules of the root's class and its bases."""
    if reading.root.klass is not None:
        home, klass = reading.root.klass
        yield from (facts for facts, _ in lookup_order(home, klass))
