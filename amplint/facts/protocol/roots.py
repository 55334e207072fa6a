"""Where paths start: functions that nobody in sight calls, modules, and methods that a subclass inherits.

Knows who calls whom by name; what the functions do is for others.
"""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from amplint.facts.program.classes import lookup_order
from amplint.flow.graph import Loop, Owner
from amplint.model.data import Entity
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    ClassDef,
    Comprehension,
    For,
    FunctionDef,
    List,
    Module,
    Name,
    Node,
    Starred,
    Subscript,
    Tuple,
)
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Root(Entity):
    """A function, or the module itself, the module that it stands in, and the class that its self is an instance of."""

    home: "Facts"
    function: FunctionDef | Module
    klass: "tuple[Facts, ClassDef] | None" = None


def roots(facts: "Facts", covered: Callable[[], AbstractSet[Owner]]) -> Iterator[Root]:
    """The roots of a module that have anything to do with a training step.

    covered: the functions that stand in the place of a call in some root before; asked again for each root.
    """
    if facts.concerns.has(facts.module):
        yield Root(facts, facts.module)
    called = _called_names(facts)
    concerned = [function for function in facts.index.functions if facts.concerns.has(function)]
    for is_called in (False, True):
        for function in concerned:
            klass = facts.index.parents.get(function)
            if (function.name in called) is is_called and function not in covered():
                yield Root(facts, function, (facts, klass) if isinstance(klass, ClassDef) else None)
    for definition in facts.index.definitions.values():
        if isinstance(definition, ClassDef):
            yield from _inherited(facts, definition)


def _called_names(facts: "Facts") -> frozenset[str]:
    """The names of functions and methods of this module that some other function of it calls."""
    found: set[str] = set()
    for call in facts.index.calls:
        name = last_name(call.func)
        around = facts.index.function(call)
        if not isinstance(around, FunctionDef) or around.name != name:
            found.add(name)
    return frozenset(found)


def _inherited(facts: "Facts", klass: ClassDef) -> Iterator[Root]:
    """Methods of bases that call, on self, a method that this class overrides."""
    own = {s.name for s in klass.body if isinstance(s, FunctionDef) and facts.concerns.has(s)} - {"__init__"}
    if not own:
        return
    seen = {s.name for s in klass.body if isinstance(s, FunctionDef)}
    for owner, base in lookup_order(facts, klass)[1:]:
        for statement in base.body:
            if isinstance(statement, FunctionDef) and statement.name not in seen:
                seen.add(statement.name)
                if any(_calls_on_self(node, statement, own) for node in own_nodes(statement)):
                    yield Root(owner, statement, (facts, klass))


def _calls_on_self(node: Node, function: FunctionDef, names: set[str]) -> bool:
    if not isinstance(node, Call) or not isinstance(node.func, Attribute) or not function.parameters:
        return False
    value = node.func.value
    return isinstance(value, Name) and value.id == function.parameters[0].name and node.func.attr in names


def takes_a_turn(loop: Loop) -> bool:
    """Loops over batches and over optimizers have something to loop over: without it there is no training."""
    return runs_backward(loop) or goes_through_optimizers(loop)


def runs_backward(loop: Loop) -> bool:
    """Whether a loop runs a backward in its own body."""
    return isinstance(loop, For) and any(
        type(node) is Call and isinstance(node.func, Attribute) and node.func.attr == "backward"
        for node in own_nodes(loop)
    )


def goes_through_optimizers(loop: Loop) -> bool:
    """Whether the turns of a loop step, unscale or zero different optimizers."""
    if isinstance(loop, For):
        targets = set(_bound_names(loop.target))
        body: tuple[Node, ...] = loop.body
    else:
        assert isinstance(loop, Comprehension)
        targets = {name for generator in loop.generators for name in _bound_names(generator.target)}
        body = (loop.element,)
    nodes = [node for statement in body for node in walk(statement)]
    keyed = {
        target.id
        for node in nodes
        if isinstance(node, Assign) and isinstance(node.value, Subscript)
        if isinstance(node.value.index, Name) and node.value.index.id in targets
        for target in node.targets
        if isinstance(target, Name)
    }
    return any(_is_optimizer_use(node, targets | keyed) for node in nodes)


def _bound_names(target: Node) -> Iterator[str]:
    """The names that a target binds: `for self.batch in loader` takes nothing by `self`."""
    match target:
        case Name():
            yield target.id
        case Tuple() | List():
            for part in target.elts:
                yield from _bound_names(part)
        case Starred():
            yield from _bound_names(target.value)
        case _:
            pass


def _is_optimizer_use(node: Node, names: set[str]) -> bool:
    if not isinstance(node, Call) or not isinstance(node.func, Attribute):
        return False
    if node.func.attr in ("step", "unscale_", "zero_grad") and _is_taken_by(node.func.value, names):
        return True
    if node.func.attr in ("step", "unscale_"):
        for argument in node.args[:1]:
            given = argument.value
            part = given.value if isinstance(given, Subscript) else given
            if _is_taken_by(given, names) or (isinstance(part, Name) and part.id in names):
                return True
    return False


def _is_taken_by(expr: Node, names: set[str]) -> bool:
    """Whether an expression is one of some names, or what is taken by one of them as its key, or a part of that."""
    while isinstance(expr, Subscript | Attribute):
        keys = walk(expr.index) if isinstance(expr, Subscript) else ()
        if any(isinstance(key, Name) and key.id in names for key in keys):
            return True
        expr = expr.value
    return isinstance(expr, Name) and expr.id in names
