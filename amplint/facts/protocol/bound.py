"""Whether a name or an attribute is bound to a known function: by assignment, by a partial, by a choice, by a call.

Refuses to guess where one of its values is not known.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.classes import assigned
from amplint.facts.protocol.scene import Scene
from amplint.model.tree import Attribute, Call, Expr, IfExp, Name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_bound_to(scene: Scene, call: Call, frame: int, known: frozenset[str]) -> bool:
    """Whether what a call of some frame calls can be nothing but functions of these names."""
    values = _values(scene, call.func, frame)
    return bool(values) and all(_function_names(*value) & known for value in values)


def _values(scene: Scene, func: Expr, frame: int) -> "list[tuple[Facts, Expr | None]]":
    home = scene.homes[frame]
    if isinstance(func, Name):
        passed = next((each for each in scene.frames[frame].passed if each.parameter.name == func.id), None)
        if passed is not None and passed.value is not None:
            given = passed.value
            return (
                _values(scene, given, passed.frame) if isinstance(given, Name) else [(scene.homes[passed.frame], given)]
            )
        return [(home, binding.value) for binding in home.names.lookup(func.id, func)]
    if not isinstance(func, Attribute):
        return []
    klass = scene.callees.klass_of(func.value, frame, scene.frames)
    return list(assigned(*klass, func.attr)) if klass is not None else []


def _function_names(home: "Facts", value: Expr | None) -> frozenset[str]:
    """The names of the function that a value is, or that a partial binds."""
    names = home.names
    if isinstance(value, IfExp):
        one, other = _function_names(home, value.body), _function_names(home, value.orelse)
        return one | other if one and other else frozenset()
    if isinstance(value, Call) and names.canonical(value.func) == "functools.partial" and value.args:
        return names.meaning(value.args[0].value).names
    return frozenset() if value is None else names.meaning(value).names
