"""What an object holds that it was handed when it was made: `amp = Wrapper(scaler)` makes `amp.scaler` that scaler.

Knows the calls that make objects of classes in sight; an attribute that is given anything else as well stays its own.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.callees import is_self
from amplint.facts.program.callers import bind, handing_up
from amplint.facts.program.classes import assigned, class_made, method
from amplint.facts.program.records import field_given, fields
from amplint.facts.protocol.places import is_known_place
from amplint.flow.terms import Term
from amplint.model.data import Value
from amplint.model.tree import Call, ClassDef, Expr, FunctionDef, Module, Name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.protocol.scene import Scene


class _Made(Value):
    """An object by the one call that makes it: in a frame, or in a method of the object at another place."""

    facts: "Facts"
    klass: ClassDef
    call: Call
    home: "Facts"
    frame: int = -1
    owner: Term | None = None


class Handed(Struct):
    """What the objects of a scene were handed; the scene is lent by who asks, so that neither keeps the other alive."""

    _made: dict[Term, _Made | None] = field(default_factory=dict)

    def inside(self, scene: "Scene", holder: Term, attribute: str) -> Term | None:
        """The place whose value an attribute of an object surely holds, None where it is not known to be another's."""
        made = self._making(scene, holder)
        given = given_for(made.facts, made.klass, made.call, attribute) if made is not None else None
        if made is None or given is None:
            return None
        is_local = made.owner is None
        place = scene.resolved(given, made.frame) if is_local else scene.outside.term(made.home, given, made.owner)
        return place if is_known_place(place) else None

    def _making(self, scene: "Scene", holder: Term) -> _Made | None:
        if holder not in self._made:
            self._made[holder] = None  # an object that is made of itself is not known
            self._made[holder] = self._found(scene, holder)
        return self._made[holder]

    def _found(self, scene: "Scene", holder: Term) -> _Made | None:
        match holder:
            case ("name", str(name), int(frame)):
                return _local(scene, name, frame)
            case ("name", str(name), "") if isinstance(scene.frames[0].function, Module):
                return _local(scene, name, 0)
            case ("attr", tuple() as owner, str(attribute)):
                return self._attribute(scene, owner, attribute)
            case _:
                return None

    def _attribute(self, scene: "Scene", owner: Term, attribute: str) -> _Made | None:
        klass = self._class_of_holder(scene, owner)
        values = list(assigned(*klass, attribute)) if klass is not None else []
        home, call = values[0] if len(values) == 1 else (scene.facts, None)
        made = class_made(home, call)
        if made is None or not isinstance(call, Call):
            return None
        return _Made(*made, call, home, owner=owner)

    def _class_of_holder(self, scene: "Scene", holder: Term) -> "tuple[Facts, ClassDef] | None":
        match holder:
            case ("name", str(name), int(frame)) if is_self(scene.frames[frame].function, name):
                return scene.callees.klass_of_self(frame, scene.frames)
            case _:
                made = self._making(scene, holder)
                return (made.facts, made.klass) if made is not None else None


def _local(scene: "Scene", name: str, frame: int) -> _Made | None:
    home = scene.homes[frame]
    bindings = home.names.bindings(scene.frames[frame].function).get(name, ())
    call = bindings[0].value if len(bindings) == 1 else None
    for passing in scene.frames[frame].passed if len(bindings) == 1 else ():
        if passing.parameter is bindings[0].node:
            call, home, frame = passing.value, scene.homes[passing.frame], passing.frame
    klass = class_made(home, call)
    if klass is None or not isinstance(call, Call):
        return None
    return _Made(*klass, call, home, frame)


def given_for(facts: "Facts", klass: ClassDef, call: Call, attribute: str) -> Expr | None:
    """The argument of a call of a class that its instance holds under an attribute, and nothing else does."""
    values = list(assigned(facts, klass, attribute))
    if not values:
        return field_given(call, fields(klass), attribute)
    owner, value = values[0]
    if len(values) > 1 or not isinstance(value, Name):
        return None
    around, found = owner.index.function(value), method(facts, klass, "__init__")
    given = bind(found[1], call, has_self=True) if found is not None else {}
    while found is not None:
        home, constructor = found
        given = {name: expr for name, expr in given.items() if _is_bound_once(home, constructor, name)}
        if around is constructor:
            return given.get(value.id)
        found, given = _above(facts, klass, found, given)
    return None


def _above(
    facts: "Facts", klass: ClassDef, found: "tuple[Facts, FunctionDef]", given: dict[str, Expr | None]
) -> "tuple[tuple[Facts, FunctionDef] | None, dict[str, Expr | None]]":
    """The constructor that one runs by `super()`, and which of what it was given it hands on."""
    home, constructor = found
    calls = list(handing_up(constructor))
    above = method(facts, klass, "__init__", after=home.index.klass(constructor)) if len(calls) == 1 else None
    if above is None:
        return None, {}
    passed = bind(above[1], calls[0], has_self=True)
    return above, {name: given.get(v.id) if isinstance(v, Name) else None for name, v in passed.items()}


def _is_bound_once(home: "Facts", constructor: FunctionDef, parameter: str) -> bool:
    return len(home.names.bindings(constructor).get(parameter, ())) == 1
