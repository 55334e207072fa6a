"""What an expression says of its part in a loss: a number beside it, a factor that may undo a division.

Goes by names where nothing else tells; follows no values.
"""

from typing import TYPE_CHECKING

from amplint.facts.protocol.losses import DETACHING
from amplint.model.tree import Attribute, AugAssign, Call, Name, Node
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_changed_in_place(home: "Facts", attribute: str) -> bool:
    """Whether some module divides an attribute in place, or adds to it."""
    return any(
        isinstance(each.target, Attribute) and each.target.attr == attribute for each in home.index.each(AugAssign)
    )


def is_number(expr: Node) -> bool:
    """Whether an expression is the value of a tensor outside the graph: `loss.item()`."""
    return isinstance(expr, Call) and last_name(expr.func) in DETACHING


def may_undo(factor: Name | Attribute) -> bool:
    """Whether a factor may be the inverse of a group's length, and not a part of the loss or its weight."""
    name = (factor.id if isinstance(factor, Name) else factor.attr).lower()
    return "loss" not in name and not name.startswith(("lambda", "weight", "alpha", "beta", "coef", "w_"))


def is_torch(expr: Node) -> bool:
    """Whether an expression is the package itself: `torch.sum(x)` is no method of what is summed."""
    return isinstance(expr, Name) and expr.id == "torch"
