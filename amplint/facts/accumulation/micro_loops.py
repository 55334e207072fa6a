"""Loops that go through the parts of one batch: `range(n)` with slices or `next`, `batch.chunk(n)`, micro-batches.

Knows how such loops are written, and how many turns they say they have; knows no scaler and no step.
"""

from collections.abc import Callable

from amplint.facts.program.spelling import spelled
from amplint.model.tree import Argument, Attribute, Call, Constant, Expr, For, Name, Node, Slice, Subscript
from amplint.model.walks import last_name, walk

# Calls that cut a batch into as many parts as they are told, and into parts of the length that they are told.
CUTTING = frozenset({"chunk", "tensor_split", "array_split"})
SPLITTING = frozenset({"split"})
# The arguments of a range with a stride.
STRIDING = 3
# What a name was assigned, where it was once.
Given = Callable[[Name], Expr | None]


def is_of_parts(loop: For, given: Given) -> bool:
    """Whether the turns of a loop go through the parts of a batch, of which there is more than one."""
    ranged = _ranged(loop)
    if ranged is None:
        return _cut(loop, given) is not None or _is_named_so(loop.iter, loop.target)
    if len(ranged.args) == STRIDING:
        return _is_length(ranged.args[1].value) and _slices(loop)
    period = period_of(loop, given)
    if period is None or is_one(period):
        return False
    return _slices(loop) or _draws(loop) or _is_named_so(period, loop.target)


def period_of(loop: For, given: Given) -> Expr | None:
    """How many turns a loop has, as it is written; None where that cannot be told."""
    ranged = _ranged(loop)
    if ranged is not None:
        return ranged.args[0].value if len(ranged.args) == 1 else None
    cut = _cut(loop, given)
    return _number(cut) if cut is not None and last_name(cut.func) in CUTTING else None


def is_one(period: Expr | None) -> bool:
    """Whether a group has one turn for good."""
    return isinstance(period, Constant) and period.value == 1


def _ranged(loop: For) -> Call | None:
    """The call of `range` that a loop goes through."""
    is_range = isinstance(loop.iter, Call) and isinstance(loop.iter.func, Name) and loop.iter.func.id == "range"
    return loop.iter if is_range and isinstance(loop.iter, Call) else None


def _is_length(stop: Expr) -> bool:
    """Whether a range ends where a batch does: `len(x)`, `x.size(0)`, `x.shape[0]`."""
    match stop:
        case Call(func=Name(id="len")) | Call(func=Attribute(attr="size"), args=(Argument(value=Constant(value=0)),)):
            return True
        case Subscript(value=Attribute(attr="shape"), index=Constant(value=0)):
            return True
        case _:
            return False


def _cut(loop: For, given: Given) -> Call | None:
    """The call that cuts what a loop goes through into parts, there or where it was assigned."""
    named = (given(node) for node in walk(loop.iter) if isinstance(node, Name))
    calls = [node for node in (*walk(loop.iter), *named) if isinstance(node, Call)]
    return next((call for call in calls if last_name(call.func) in CUTTING | SPLITTING and _is_of_tensor(call)), None)


def _is_of_tensor(call: Call) -> bool:
    """Texts are split too: by a text, or by nothing."""
    number = _number(call)
    return number is not None and not (isinstance(number, Constant) and isinstance(number.value, str))


def _number(call: Call) -> Expr | None:
    """`n` of `batch.chunk(n)` and of `torch.chunk(batch, n)`."""
    named = next((a.value for a in call.args if a.name in ("chunks", "split_size", "split_size_or_sections")), None)
    placed = [a.value for a in call.args if a.name is None and not a.star]
    is_function = spelled(call.func).startswith(("torch.", "np.", "numpy."))
    return named or next(iter(placed[int(is_function) :]), None)


def _slices(loop: For) -> bool:
    """Whether the turns of a loop take slices by the loop's target: parts of one batch."""
    if not isinstance(loop.target, Name):
        return False
    name = loop.target.id
    parts = (walk(node.index) for node in walk(loop) if isinstance(node, Subscript))
    cuts = (list(part) for part in parts)
    return any(
        any(isinstance(node, Slice) for node in cut) and any(isinstance(n, Name) and n.id == name for n in cut)
        for cut in cuts
    )


def _draws(loop: For) -> bool:
    """Whether each turn takes the next batch of an iterator: a sum over tasks or views would go on with the same."""
    return any(isinstance(n, Call) and isinstance(n.func, Name) and n.func.id == "next" for n in walk(loop))


def _is_named_so(source: Node, target: Node) -> bool:
    """Whether a loop says itself that it goes through micro-batches."""
    names = f"{spelled(source)} {spelled(target)}".lower()
    return "accum" in names or "micro" in names
