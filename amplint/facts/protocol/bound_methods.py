"""Calls of methods that a name or an attribute holds, as they would be written on the object: `step = scaler.step`.

Knows what is given to a name once; a name that a test decides about stays what it is.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.callees import is_self
from amplint.facts.program.classes import assigned
from amplint.model.tree import Argument, Attribute, Call, Expr, Module, Name, Node
from amplint.model.walks import element

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.protocol.scene import Scene

METHODS = frozenset({"scale", "unscale_", "step", "update", "zero_grad"})


class BoundMethods(Struct):
    """The calls of a scene that were asked about; the scene is lent by who asks, so that neither keeps the other alive.

    The new calls are kept with the old ones, for others know expressions by their identity.
    """

    _known: dict[tuple[int, int], tuple[Call, Call]] = field(default_factory=dict)

    def said(self, scene: "Scene", call: Call, frame: int) -> Call:
        """A call of a frame as one of a method of the object that the frame sees, or as it is."""
        key = (id(call), frame)
        if key not in self._known:
            self._known[key] = (call, _written(scene, call, frame))
        return self._known[key][1]


def _written(scene: "Scene", call: Call, frame: int) -> Call:
    home = scene.homes[frame]
    given: tuple[Argument, ...] = ()
    held = _held(scene, home, call.func, frame)
    if isinstance(held, Call) and held.args and home.names.canonical(held.func) == "functools.partial":
        if any(argument.star for argument in held.args):
            return call
        given = held.args[1:]
        held = held.args[0].value
    if not isinstance(held, Attribute) or held.attr not in METHODS:
        return call
    return Call(call.span, held, _joined(given, call.args))


def _joined(given: tuple[Argument, ...], own: tuple[Argument, ...]) -> tuple[Argument, ...]:
    placed, named = ([each for each in given if (each.name is None) is is_placed] for is_placed in (True, False))
    return (*placed, *own, *named)


def _held(scene: "Scene", home: "Facts", func: Expr, frame: int) -> Expr | None:
    """What the callee of a call was given, where that was once, and means here what it means there."""
    match func:
        case Name():
            return _of_name(home, func, scene.frames[frame].function)
        case Attribute(value=Name(id=me)) if is_self(scene.frames[frame].function, me):
            klass = scene.callees.klass_of_self(frame, scene.frames)
            values = list(assigned(*klass, func.attr)) if klass is not None else []
            owner, value = values[0] if len(values) == 1 else (home, None)
            return value if owner is home and _is_of(value, me) else None
        case _:
            return None


def _of_name(home: "Facts", name: Name, function: Node) -> Expr | None:
    found = home.names.lookup(name.id, name)
    if len(found) != 1:
        return None
    scope: Node = found[0].scope
    if scope is not function and not isinstance(scope, Module) and scope not in home.index.ancestors(function):
        return None
    if found[0].value is not None or not isinstance(found[0].node, Name):
        return found[0].value
    given = home.values.unpacked(found[0].node)
    return element(given.value, given.part)


def _is_of(value: Expr | None, me: str) -> bool:
    """Whether what another method gave an attribute is made of the object alone, by the name that it has here too."""
    parts = [argument.value for argument in value.args] if isinstance(value, Call) else [value]
    return all(_root(part) == me for part in parts)


def _root(expr: Expr | None) -> str:
    while isinstance(expr, Attribute):
        expr = expr.value
    return expr.id if isinstance(expr, Name) else ""
