"""Scalers that a class makes and keeps to itself, of which nothing in sight ever calls `scale`.

Knows an attribute with a leading underscore alone: any other one may be used from anywhere.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.classes import assigned
from amplint.facts.protocol.roles import Roles
from amplint.flow.terms import Term
from amplint.knowledge.training_names import is_scaler
from amplint.model.tree import Attribute, Call, FunctionDef, Lambda
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def nobody_scales(roles: Roles) -> bool:
    """Whether no scaler of a scene that runs a backward can have scaled what its root is given, or gradients before.

    Each is kept by its class, and scales nothing.
    """
    is_backward = any(last_name(call.func) == "backward" for _, call in roles.scene.calls)
    return is_backward and bool(roles.scalers) and all(_is_idle(roles, place) for place in roles.scalers)


def _is_idle(roles: Roles, place: Term) -> bool:
    match place:
        case ("attr", ("name", str(), 0), str(name)) if name.startswith("_"):
            root = roles.scene.frames[0].function
        case _:
            return False
    home = roles.scene.homes[0]
    klass = home.index.klass(root) if isinstance(root, FunctionDef | Lambda) else None
    made = list(assigned(home, klass, name)) if klass is not None else []
    return (
        bool(made)
        and all(home.constructors.may_make(value, is_scaler) for home, value in made)
        and all(
            home.index.is_target(use) or _is_quiet(home, use) for use in home.index.each(Attribute) if use.attr == name
        )
    )


def _is_quiet(home: "Facts", use: Attribute) -> bool:
    """Whether a mention calls a method of the scaler other than `scale`."""
    method = home.index.parents.get(use)
    if not isinstance(method, Attribute) or method.attr == "scale":
        return False
    called = home.index.parents.get(method)
    return isinstance(called, Call) and called.func is method
