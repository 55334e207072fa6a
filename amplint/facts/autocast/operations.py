"""Operations that half precision or autocast cannot take: probabilities into BCE, numbers outside float16.

Knows only what runs inside a region that is seen; refuses to guess the dtype of a tensor elsewhere.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Autocast, Region, is_switched_off
from amplint.facts.program.reach import Reached, reached
from amplint.model.data import Value
from amplint.model.tree import Attribute, Binary, Call, Constant, Expr, Name, Node, Subscript, Unary
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_BCE_FUNCTIONS = frozenset(
    {"torch.nn.functional.binary_cross_entropy", "torch.binary_cross_entropy", "torch.nn.functional.bce_loss"}
)
_BCE_CLASSES = frozenset({"torch.nn.BCELoss", "torch.nn.modules.loss.BCELoss"})
_FLOAT16_MAX = 65504.0
_FLOAT16_TINY = 2.0**-25  # half of the smallest subnormal: rounds to zero
_FILLS = {"masked_fill": 1, "masked_fill_": 1, "fill_": 0, "index_fill_": 2}
_FILL_FUNCTIONS = {"torch.where": (1, 2), "torch.full_like": (1,), "torch.masked_fill": (2,)}
_FLOORS = frozenset({"clamp", "clamp_", "clamp_min", "clip", "torch.clamp", "torch.clip", "torch.clamp_min"})
_CASTS = frozenset({"float", "double", "to", "type", "type_as"})
# what CUDA autocast runs in float32: https://docs.pytorch.org/docs/stable/amp.html#cuda-ops-that-can-autocast-to-float32
_WIDE = frozenset(
    {
        *("softmax", "log_softmax", "softmin", "exp", "expm1", "log", "log2", "log10", "log1p", "pow", "sum", "prod"),
        *("norm", "layer_norm", "group_norm", "cumsum", "cumprod", "dist", "cdist", "reciprocal", "rsqrt", "tan"),
        *("acos", "asin", "cosh", "sinh", "softplus", "erfinv", "renorm", "normalize", "cross_entropy", "mse_loss"),
    }
)


# what CUDA autocast runs in float16, and what gives back the dtype that it gets
_PRODUCTS = frozenset({"matmul", "mm", "bmm", "baddbmm", "addmm", "einsum", "linear", "conv1d", "conv2d", "conv3d"})
_KEEPING = frozenset(
    {
        *("abs", "amax", "amin", "max", "min", "mean", "sigmoid", "tanh", "relu", "sqrt", "square", "neg", "clone"),
        *("view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "contiguous", "detach", "t"),
    }
)


class InRegion(Value):
    """An operation inside a region. place is where the region's own code leads to it."""

    region: Region
    at: Reached
    place: Node


class BadConstant(Value):
    """A number that float16 cannot hold; is_large tells the two ends apart."""

    where: InRegion
    constant: Expr
    is_large: bool


class Operations:
    """The operations inside the regions of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def probability_losses(self) -> Iterator[InRegion]:
        """Binary cross entropies of probabilities under CUDA autocast."""
        for each in self._inside(is_cuda_possible, Call):
            if isinstance(each.at.node, Call) and _is_bce(each.at.facts, each.at.node):
                yield each

    def constants(self) -> Iterator[BadConstant]:
        """Numbers outside float16 that meet tensors in a region that may be float16."""
        places: set[Node] = set()
        for each in self._inside(lambda autocast: "float16" in autocast.dtypes, (Binary, Call)):
            for constant, is_large in _constants(each.at.facts, each.at.node):
                place = constant if each.place is each.at.node else each.place
                if place not in places:
                    places.add(place)
                    yield BadConstant(each, constant, is_large)

    def _inside(
        self, is_wanted: Callable[[Autocast], bool], kind: type[Node] | tuple[type[Node], ...]
    ) -> Iterator[InRegion]:
        seen: set[Node] = set()
        for region in reversed(self._facts.regions.all):
            if region.is_off or not any(is_wanted(autocast) for autocast in region.autocasts):
                continue
            for each in reached(self._facts, region.body, kind=kind):
                if each.node in seen or is_switched_off(each, region):
                    continue
                seen.add(each.node)
                yield InRegion(region, each, each.via[0] if each.via else each.node)


def is_cuda_possible(autocast: Autocast) -> bool:
    """Whether an autocast object is for CUDA, or for a device that is computed from a string with `cuda` in it."""
    given = autocast.device_given
    if autocast.device is not None or given is None or given.node is None:
        return autocast.device == "cuda"
    nodes = given.facts.values.closure(given.node)
    return any(isinstance(n, Constant) and isinstance(n.value, str) and "cuda" in n.value for _, n in nodes)


def number(facts: "Facts", expr: Node) -> float | None:
    """The number that an expression always is, also through a name; None for everything else."""
    found = {_literal(origin.node) for origin in facts.values.origins(expr, is_local=True)}
    return found.pop() if len(found) == 1 else None


def _literal(node: Node | None) -> float | None:
    if isinstance(node, Unary) and node.op == "-":
        inner = _literal(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def _is_bce(facts: "Facts", call: Call) -> bool:
    if facts.names.canonical(call.func) in _BCE_FUNCTIONS:
        return True
    if not isinstance(call.func, Name | Attribute):
        return False
    made = facts.training.made_by(call.func, lambda _: True)
    # Of several losses a setting chooses, and may never choose that one.
    return bool(made) and all(each.name in _BCE_CLASSES for each in made)


def _constants(facts: "Facts", node: Node) -> Iterator[tuple[Expr, bool]]:
    if isinstance(node, Binary) and node.op in ("+", "-"):
        yield from _added(facts, node.left, node.right)
        yield from _added(facts, node.right, node.left)
    elif isinstance(node, Call):
        for argument in _filled(facts, node):
            value = number(facts, argument)
            if value is not None and _FLOAT16_MAX < abs(value) < float("inf"):
                yield argument, True
        name = facts.names.canonical(node.func) or (node.func.attr if isinstance(node.func, Attribute) else "")
        if name in _FLOORS and node.args and _may_be_half(facts, _held(facts, node)):
            given = [a.value for a in node.args if a.name is None and not a.star]
            place = 0 if _is_method(facts, node) else 1
            by_position = given[place] if len(given) > place else None
            floor = next((a.value for a in node.args if a.name == "min"), by_position)
            value = number(facts, floor) if floor is not None else None
            if floor is not None and value is not None and 0 < abs(value) < _FLOAT16_TINY:
                yield floor, False


def _added(facts: "Facts", constant: Expr, other: Expr) -> Iterator[tuple[Expr, bool]]:
    value = number(facts, constant)
    if value is None or number(facts, other) is not None or _is_wide(facts, other):
        return
    if _FLOAT16_MAX < abs(value) < float("inf") and isinstance(value, float) and _is_tensor(facts, other):
        yield constant, True
    elif 0 < abs(value) < _FLOAT16_TINY and _may_be_half(facts, other):
        yield constant, False


def _filled(facts: "Facts", call: Call) -> Iterator[Expr]:
    canonical = facts.names.canonical(call.func) or ""
    places: tuple[int, ...] = _FILL_FUNCTIONS.get(canonical, ())
    if not places and isinstance(call.func, Attribute) and call.func.attr in _FILLS:
        places = (_FILLS[call.func.attr],)
        if _is_wide(facts, call.func.value):
            return
    for place, argument in enumerate(call.args):
        if argument.name in ("value", "fill_value") or (argument.name is None and place in places):
            yield argument.value


def _held(facts: "Facts", call: Call) -> Expr:
    """The tensor that a method or a function of torch is called for."""
    return call.func.value if isinstance(call.func, Attribute) and _is_method(facts, call) else call.args[0].value


def _is_method(facts: "Facts", call: Call) -> bool:
    """Whether a call is a method's of some value, and no function's of a module."""
    return isinstance(call.func, Attribute) and facts.names.canonical(call.func) is None


def _may_be_half(facts: "Facts", expr: Expr, depth: int = 6) -> bool:
    """Whether a value is what a matrix product or a module gives, passed on by operations that keep its dtype alone.

    Anything else may have met a float32 tensor, which half precision yields to.
    """
    if not depth:
        return False
    origins = facts.values.origins(expr, is_local=True)
    return bool(origins) and all(
        origin.node is not None and _is_half_made(origin.facts, origin.node, depth) for origin in origins
    )


def _is_half_made(facts: "Facts", node: Expr, depth: int) -> bool:
    match node:
        case Unary(operand=operand):
            return _may_be_half(facts, operand, depth - 1)
        case Subscript(value=value):
            return _may_be_half(facts, value, depth - 1)
        case Binary(op="@"):
            return True
        case Binary(left=left, right=right):
            sides = [side for side in (left, right) if number(facts, side) is None]
            return bool(sides) and all(_may_be_half(facts, side, depth - 1) for side in sides)
        case Call(func=func):
            canonical = facts.names.canonical(func)
            last = (canonical or (func.attr if isinstance(func, Attribute) else "")).rpartition(".")[2]
            if last in _PRODUCTS:
                return True
            if (
                last in _KEEPING
                and (canonical is None or canonical.startswith("torch."))
                and (node.args or not canonical)
            ):
                return _may_be_half(facts, _held(facts, node), depth - 1)
            is_module = canonical is None and isinstance(func, Name) and facts.targets.function(node) is None
            return is_module and not facts.training.made_by(func, lambda name: name.startswith("torch."))
    return False


def _is_wide(facts: "Facts", expr: Node) -> bool:
    """Whether a value comes from an operation that autocast runs in float32, or was cast by hand."""
    for origin in facts.values.origins(expr, is_local=True):
        for node in walk(origin.node) if origin.node is not None else ():
            if isinstance(node, Binary) and node.op == "**":
                return True
            if isinstance(node, Call):
                name = (origin.facts.names.canonical(node.func) or "").rpartition(".")[2]
                attr = node.func.attr if isinstance(node.func, Attribute) else name
                if attr in _WIDE or attr in _CASTS:
                    return True
    return False


def _is_tensor(facts: "Facts", expr: Node) -> bool:
    """Whether a value is a tensor as far as its making shows."""
    return any(
        isinstance(origin.node, Call) and (origin.facts.names.canonical(origin.node.func) or "").startswith("torch.")
        for origin in facts.values.origins(expr, is_local=True)
    )
