"""What code does with `.grad` by hand: measures it, bounds it, adds to it, throws it away; or only looks whether it is.

Knows expressions, not whose gradients they are.
"""

from enum import StrEnum

from amplint.model.tree import (
    AnnAssign,
    Argument,
    Assign,
    Attribute,
    AugAssign,
    Binary,
    Call,
    Compare,
    Comprehension,
    Constant,
    Expr,
    FunctionDef,
    Lambda,
    Name,
    Node,
)
from amplint.model.walks import children, last_name


class Handling(StrEnum):
    """What is done with a gradient, where it matters that it may be scaled."""

    CLIP = "clip"
    READ = "read"
    CHANGE = "change"
    ZERO = "zero"
    SET = "set"


BOUNDING = frozenset({"clamp", "clamp_", "clip", "clip_", "clamp_min_", "clamp_max_"})
# Not what only asks whether there is a gradient and whether it is finite, nor what commutes with a division.
MEASURING = frozenset({"norm", "abs", "std", "var", "pow", "square", "histc"})
MEASURING_FUNCTIONS = frozenset({"norm", "vector_norm", "matrix_norm", "Histogram", "add_histogram", "get_total_norm"})
ADDING = frozenset({"add_", "sub_", "addcmul_", "copy_"})
# Attributes and methods that hand the same gradient on.
SAME = frozenset(
    {"data", "view", "reshape", "flatten", "detach", "float", "double", "contiguous", "T", "clone", "ravel", "cpu"}
)


def has_gradient(node: Node) -> bool:
    """Whether an expression reads some `.grad`."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, Attribute) and current.attr == "grad":
            return True
        if not isinstance(current, FunctionDef | Lambda):
            stack.extend(children(current))
    return False


def is_gradient(node: Node) -> bool:
    """Whether an expression is a gradient itself: `p.grad`, `p.grad.data.view(-1)`."""
    while True:
        if isinstance(node, Attribute):
            if node.attr == "grad":
                return True
            if node.attr not in SAME:
                return False
            node = node.value
        elif isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr in SAME:
            node = node.func.value
        else:
            return False


def call_handling(call: Call) -> Handling | None:
    """What a call does with a gradient."""
    func = call.func
    name = last_name(func)
    if isinstance(func, Attribute) and is_gradient(func.value):
        if name in BOUNDING:
            return Handling.CLIP
        if name == "zero_":
            return Handling.ZERO
        if name in ADDING:
            return Handling.CHANGE
        return Handling.READ if name in MEASURING else None
    if name in MEASURING_FUNCTIONS and any(has_gradient(argument.value) for argument in call.args):
        return Handling.READ
    if name in BOUNDING and call.args and has_gradient(call.args[0].value):
        return Handling.CLIP
    return None


def assignment_handling(statement: Node) -> Handling | None:
    """What an assignment does with a gradient: `p.grad = None`, `p.grad += noise`; a factor commutes with the scale."""
    match statement:
        case Assign(targets=targets, value=value) if any(is_gradient(target) for target in targets):
            return _assigned(value)
        case AnnAssign(target=target, value=value) if value is not None and is_gradient(target):
            return _assigned(value)
        case AugAssign(target=target, op="+" | "-", value=value) if is_gradient(target):
            return None if _is_factor(value) else Handling.CHANGE
        case _:
            return None


def _assigned(value: Expr) -> Handling | None:
    if isinstance(value, Constant) and value.value is None:
        return Handling.ZERO
    if not has_gradient(value):
        return Handling.SET
    return Handling.CHANGE if isinstance(value, Binary) and value.op in "+-" else None


def _is_factor(value: Expr) -> bool:
    """A term that is itself made of gradients grows with the scale as they do."""
    return has_gradient(value)


def asks_for_gradients(test: Node) -> bool:
    """`any(p.grad is not None for p in …)`: whether there is anything to step with."""
    match test:
        case Call(func=Name(id="any"), args=(Argument(value=Comprehension(element=element)),)):
            return asks_for_gradients(element)
        case Compare(left=left, ops=("is not",), comparators=(Constant(value=None),)):
            return is_gradient(left)
        case _:
            return False
