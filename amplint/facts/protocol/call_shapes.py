"""What the shape of a call or an argument says by itself: a taking from a collection, a gradient given by hand.

Knows neither scalers nor optimizers; which objects a call is about is for `events.py`.
"""

from amplint.facts.program.index import Index
from amplint.model.tree import Argument, Attribute, Call, Constant, Expr, Name, Node, Unary, With
from amplint.model.walks import is_none, last_name

# What gives another optimizer each time.
TAKING = frozenset({"next", "pop", "popleft"})
EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


def is_expected_to_raise(index: Index, node: Node) -> bool:
    """Whether a test wants an error of a statement: `with pytest.raises(RuntimeError):`."""
    items = (item for outer in index.ancestors(node) if isinstance(outer, With) for item in outer.items)
    return any(isinstance(item.context, Call) and last_name(item.context.func) in EXPECTING for item in items)


def takes_another(expr: Expr) -> bool:
    """Whether an expression gives another object each time it is evaluated."""
    return isinstance(expr, Call) and last_name(expr.func) in TAKING


def may_run_backward(name: str) -> bool:
    """Whether a function that is not seen says that it runs a backward: `forward_backward`, `manual_backward`."""
    return "backward" in name and "hook" not in name


def is_gradient_argument(argument: Argument) -> bool:
    """`backward(torch.ones_like(y))`, `backward(gradient=g)`: not a framework's `backward(loss)`."""
    if argument.name is not None or is_none(argument.value):
        return True
    return isinstance(argument.value, Call) and last_name(argument.value.func).startswith(("ones", "tensor", "full"))


def is_left_gradient(expr: Expr) -> bool:
    """`cut.grad`: what an earlier backward left on the way, for the part of the model before a cut."""
    return isinstance(expr, Attribute) and expr.attr == "grad"


def goes_on(backward: Call) -> bool:
    """`hidden.backward(cut.grad)`."""
    given = backward.args[:1]
    return bool(given) and given[0].name in (None, "gradient") and is_left_gradient(given[0].value)


def is_infinite(expr: Expr) -> bool:
    """`float("inf")`, `math.inf`, `np.inf`: a clip that only measures."""
    match expr:
        case Call(func=Name(id="float")) if expr.args and isinstance(expr.args[0].value, Constant):
            return str(expr.args[0].value.value).lower().strip("+") in ("inf", "infinity")
        case Attribute(attr="inf" | "Inf" | "infty"):
            return True
        case Unary(op="+"):
            return is_infinite(expr.operand)
        case _:
            return False


def mapped_scale(call: Call) -> Expr | None:
    """The object whose `scale` a `map` applies to each of its elements."""
    match call:
        case Call(func=Name(id="map"), args=(Argument(value=Attribute(attr="scale") as scale), _)):
            return scale.value
        case _:
            return None
