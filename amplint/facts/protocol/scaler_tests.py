"""Which tests of a scene ask for a scaler: whether there is one, whether it is on, whether something is one.

Knows the scalers by their places; what an answer means on a path is for `ways.py`.
"""

from amplint.facts.protocol.roles import ASKING, Roles
from amplint.flow.graph import Edge
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, Call, Compare, Constant, Expr, Name, Node


def scaler_test(roles: Roles, test: Node | None, frame: int) -> tuple[Term, bool] | None:
    """The scaler that a test asks for (`if scaler:`, `scaler is not None`, `scaler.is_enabled()`), and the answer where
    there is one that scales.
    """
    is_there = True
    if isinstance(test, Compare) and test.ops in (("is",), ("is not",)):
        is_none = isinstance(test.comparators[0], Constant) and test.comparators[0].value is None
        is_there, test = test.ops == ("is not",), test.left if is_none else None
    else:
        test = _asked_itself(roles, test, frame) or test
    if not isinstance(test, Name | Attribute):
        return None
    place = roles.scene.place(test, frame)
    return (place, is_there) if place in roles.scalers else None


def _asked_itself(roles: Roles, test: Node | None, frame: int) -> Expr | None:
    """The scaler whose `is_enabled()` a test is, or a name that was given the answer."""
    if isinstance(test, Name):
        bindings = roles.scene.homes[frame].names.lookup(test.id, test)
        test = bindings[0].value if len(bindings) == 1 else None
    if isinstance(test, Call) and isinstance(test.func, Attribute) and test.func.attr == ASKING:
        return test.func.value
    return None


def is_type_test(roles: Roles, edge: Edge) -> bool:
    """Whether a branch asks for the class of a scaler."""
    match edge.node:
        case Call(func=Name(id="isinstance"), args=(tested, _)):
            return roles.scene.place(tested.value, edge.frame) in roles.scalers
        case _:
            return False
