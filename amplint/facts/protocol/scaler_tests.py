"""Which tests of a scene ask for a scaler or an optimizer: whether there is one, whether it is on, what it is.

Knows both by their places; what an answer means on a path is for `ways.py`.
"""

from amplint.facts.protocol.roles import ASKING, SCALER_METHODS, Roles
from amplint.flow.terms import Term
from amplint.model.tree import Argument, Attribute, Call, Compare, Constant, Expr, Name, Node


def scaler_test(roles: Roles, test: Node | None, frame: int) -> tuple[Term, bool] | None:
    """The scaler that a test asks for (`if scaler:`, `scaler is not None`, `scaler.is_enabled()`), and the answer where
    there is one that scales.
    """
    asked, is_there = _asked_for(test)
    if asked is test:
        asked = _asked_itself(roles, test, frame) or test
    if not isinstance(asked, Name | Attribute):
        return None
    place = roles.scene.place(asked, frame)
    return (place, is_there) if place in roles.scalers else None


def optimizer_test(roles: Roles, test: Node | None, frame: int) -> bool | None:
    """The answer of a test whether there is an optimizer that is stepped, None where a test asks something else."""
    asked, is_there = _asked_for(test)
    if asked is test or not isinstance(asked, Name | Attribute):
        return None
    return is_there if roles.optimizer(roles.scene.place(asked, frame)) is not None else None


def _asked_for(test: Node | None) -> tuple[Node | None, bool]:
    """What a test compares with None, or is itself, and the answer where that is there."""
    if not isinstance(test, Compare) or test.ops not in (("is",), ("is not",)):
        return test, True
    is_none = isinstance(test.comparators[0], Constant) and test.comparators[0].value is None
    return test.left if is_none else None, test.ops == ("is not",)


def _asked_itself(roles: Roles, test: Node | None, frame: int) -> Expr | None:
    """The scaler whose `is_enabled()` a test is, or a name that was given the answer."""
    if isinstance(test, Name):
        bindings = roles.scene.homes[frame].names.lookup(test.id, test)
        test = bindings[0].value if len(bindings) == 1 else None
    if isinstance(test, Call) and isinstance(test.func, Attribute) and test.func.attr == ASKING:
        return test.func.value
    return None


def is_type_test(roles: Roles, test: Node | None, frame: int) -> bool:
    """Whether a test asks for the class of a scaler, or for a method that every scaler has."""
    match test:
        case Call(func=Name(id="isinstance"), args=(tested, _)):
            return roles.scene.place(tested.value, frame) in roles.scalers
        case Call(func=Name(id="hasattr"), args=(tested, Argument(value=Constant(value=name)))):
            return name in SCALER_METHODS and roles.scene.place(tested.value, frame) in roles.scalers
        case _:
            return False
