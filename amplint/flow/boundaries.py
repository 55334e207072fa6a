"""Tests that ask whether a group of turns is complete: `(i + 1) % n == 0`, a counter, `is_last`, `sync_gradients`.

Knows the shapes of such tests; refuses to know what a program does at a boundary.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec.structs import replace

from amplint.model.data import Value
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    AugAssign,
    Binary,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    List,
    Name,
    NamedExpr,
    Node,
    Subscript,
    Tuple,
    Unary,
)
from amplint.model.walks import dotted, last_name, walk

LAST_NAMES = frozenset({"is_last", "last", "last_batch", "is_last_batch", "last_step", "is_last_step", "final_batch"})
SYNC_NAMES = frozenset({"sync_gradients", "is_gradient_accumulation_boundary", "should_sync", "update_grad"})
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class BoundaryKind(StrEnum):
    """How a program counts.

    modulo: a remainder of the counter. counter: a count up to the period, set back to 0 at the boundary. last: the
    last turn of a loop alone. sync: a framework's flag.
    """

    MODULO = "modulo"
    COUNTER = "counter"
    LAST = "last"
    SYNC = "sync"


class Boundary(Value):
    """What a test asks. is_true is the answer that means a boundary.

    counter and period are None where the kind has none. has_last says that the last turn of the loop is a boundary
    too, whatever the count. is_distance: the counter is how far a count is from its value at the last boundary, which
    nothing sets back to 0.
    """

    kind: BoundaryKind
    is_true: bool = True
    counter: Expr | None = None
    period: Expr | None = None
    has_last: bool = False
    is_distance: bool = False


# What a name stands for, where it was assigned once; None where it cannot be told.
Meaning = Callable[[Expr], Expr | None]


def boundary(test: Expr, scope: Node | None = None, meaning: Meaning = lambda _: None) -> Boundary | None:
    """What a test asks about groups of turns; None where it asks something else.

    scope is searched for the assignments of a counter; without it a comparison of a name is no boundary.
    """
    match test:
        case Unary(op="not"):
            return _turned(boundary(test.operand, scope, meaning))
        case NamedExpr():
            return boundary(test.value, scope, meaning)
        case BoolOp():
            parts = [boundary(value, scope, meaning) for value in test.values]
            counters = [part.counter for part in parts if part is not None and part.counter is not None]
            from_one = [n.left for n in walk(test) if isinstance(n, Binary) and n.op == "%"]
            pairs = zip(parts, test.values, strict=True)
            ends = [part or _end(value, counters, from_one, meaning) for part, value in pairs]
            return _any_of(ends, test.op)
        case Call(func=Name(id="any" | "all" as name), args=(Argument(value=Tuple() | List() as given),)):
            return boundary(BoolOp(test.span, "or" if name == "any" else "and", given.elts), scope, meaning)
        case Compare() if len(test.ops) == 1:
            return _compared(_counted(test.left, meaning), test.ops[0], test.comparators[0], scope)
        case Binary(op="%"):
            return _turned(_remainder(test, "==", Constant(test.span, 0)))
        case Call(func=Name(id="bool")) if len(test.args) == 1:
            return boundary(test.args[0].value, scope, meaning)
        case Name() | Attribute() | Call():
            return _named(test, scope, meaning)
        case _:
            return None


def asks_for_the_last(test: Expr) -> bool:
    """Whether some part of a test asks for the last of several: `number + 1 == count`, `number == len(all) - 1`."""
    for node in walk(test):
        sides = (node.left, *node.comparators) if isinstance(node, Compare) and node.ops == ("==",) else ()
        if any(isinstance(s, Binary) and s.op in "+-" and isinstance(s.right, Constant) for s in sides):
            return True
    return False


def _counted(expr: Expr, meaning: Meaning) -> Expr:
    """A remainder that has a name, or that `divmod` gives, as it would be written with `%`."""
    stands_for = meaning(expr) if isinstance(expr, Name) else expr
    match stands_for:
        case Subscript(value=Call(func=Name(id="divmod"), args=(counter, period)), index=Constant(value=1)):
            return Binary(expr.span, "%", counter.value, period.value)
        case Binary(op="%"):
            return stands_for
        case _:
            return expr


def _named(test: Name | Attribute | Call, scope: Node | None, meaning: Meaning) -> Boundary | None:
    stands_for = meaning(test)
    if stands_for is not None:
        found = boundary(_counted(stands_for, meaning), scope)
        if found is not None or not isinstance(test, Attribute):
            return found
    place = test.func if isinstance(test, Call) else test
    name = last_name(place)
    if name in SYNC_NAMES:
        return Boundary(BoundaryKind.SYNC)
    return Boundary(BoundaryKind.LAST) if name in LAST_NAMES else None


def _turned(found: Boundary | None) -> Boundary | None:
    if found is None:
        return None
    return replace(found, is_true=not found.is_true)


def _any_of(parts: list[Boundary | None], op: str) -> Boundary | None:
    """`boundary or last turn`, and its negation by De Morgan; beside other questions a boundary decides nothing."""
    if not all(part is not None and part.is_true == (op == "or") for part in parts):
        return None
    known = [part for part in parts if part is not None]
    counted = [part for part in known if part.kind is not BoundaryKind.LAST]
    if len(counted) > 1:
        return None
    return replace(counted[0], has_last=True) if counted else known[0]


def _compared(left: Expr, op: str, right: Expr, scope: Node | None) -> Boundary | None:
    if isinstance(right, Binary) and right.op == "%":
        left, right, op = right, left, FLIPPED.get(op, op)
    if isinstance(left, Binary) and left.op == "%":
        return _remainder(left, op, right)
    if op not in ("==", "!=", ">=", "<"):
        return None
    last = _last_turn(left, right) or _last_turn(right, left)
    if last:
        return Boundary(BoundaryKind.LAST, op in ("==", ">="))
    if isinstance(left, Binary) and left.op == "-" and scope is not None and _is_remembered(left, scope):
        return Boundary(BoundaryKind.COUNTER, op in ("==", ">="), left, right, is_distance=True)
    counter, shift = _unshifted(left)
    name = dotted(counter) if shift in (0, 1) else None
    if name is not None and scope is not None and _is_counted(name, scope):
        return Boundary(BoundaryKind.COUNTER, op in ("==", ">="), counter, right)
    return None


def _remainder(left: Binary, op: str, right: Expr) -> Boundary | None:
    """`(counter + 1) % period` compared with a number, or with the period less one."""
    is_number = isinstance(right, Constant) and isinstance(right.value, int) and not isinstance(right.value, bool)
    is_last = isinstance(right, Binary) and right.op == "-" and _same(right.left, left.right) and _is(right.right, 1)
    if not (is_number or is_last) or op not in ("==", "!="):
        return None
    return Boundary(BoundaryKind.MODULO, op == "==", _unshifted(left.left)[0], left.right)


def _unshifted(counter: Expr) -> tuple[Expr, int]:
    if isinstance(counter, Binary) and counter.op in ("+", "-"):
        for inner, added in ((counter.left, counter.right), (counter.right, counter.left)):
            if isinstance(added, Constant) and isinstance(added.value, int):
                return inner, added.value if counter.op == "+" else -added.value
    return counter, 0


def _last_turn(turn: Expr, end: Expr) -> bool:
    """`i + 1 == len(loader)`, `i == len(loader) - 1`, `step == num_batches - 1`."""
    _, shift = _unshifted(turn)
    total, less = _unshifted(end)
    if shift - less != 1:
        return False
    if isinstance(total, Call):
        return dotted(total.func) == "len"
    return dotted(total) is not None and less == -1


def _end(test: Expr, counters: list[Expr], from_one: list[Expr], meaning: Meaning) -> Boundary | None:
    """`i + 1 == total` beside a test that counts in `i`: the total can only be that of the turns.

    So can it in `i % n == 0 or i == total`, where `i` counts from 1. `i >= other` may be true in many turns, unless the
    other is a length.
    """
    if not isinstance(test, Compare) or len(test.ops) != 1 or test.ops[0] not in ("==", "!=", ">=", "<"):
        return None
    is_equality = test.ops[0] in ("==", "!=")
    pairs = [(test.left, test.comparators[0]), (test.comparators[0], test.left)]
    for turn, total in pairs if is_equality else pairs[:1]:
        counter, shift = _unshifted(turn)
        known = counters if shift == 1 else from_one if shift == 0 else []
        if not any(_same(counter, each) for each in known):
            continue
        length = meaning(total) or total  # to be asked last: it may take other modules
        is_length = isinstance(length, Call) and dotted(length.func) == "len"
        if is_length or (is_equality and dotted(total) is not None):
            return Boundary(BoundaryKind.LAST, test.ops[0] in ("==", ">="))
    return None


def _is_remembered(distance: Binary, scope: Node) -> bool:
    """`count - last`, where `last = count` stands somewhere."""
    count, last = dotted(distance.left), dotted(distance.right)
    return count is not None and any(
        isinstance(node, Assign) and dotted(node.value) == count and last in map(dotted, node.targets)
        for node in walk(scope)
    )


def _is_counted(name: str, scope: Node) -> bool:
    """Whether a name counts up by one and is set back to 0."""
    is_up = is_back = False
    for node in walk(scope):
        match node:
            case AugAssign(op="+") if dotted(node.target) == name and _is(node.value, 1):
                is_up = True
            case Assign() if any(dotted(target) == name for target in node.targets):
                is_back = is_back or _is(node.value, 0)
                is_up = is_up or (isinstance(node.value, Binary) and _unshifted(node.value)[1] == 1)
            case _:
                pass
    return is_up and is_back


def _is(expr: Expr, value: int) -> bool:
    return isinstance(expr, Constant) and expr.value == value and not isinstance(expr.value, bool)


def _same(one: Expr, other: Expr) -> bool:
    """Whether two expressions of names, attributes, items and constants are written alike."""
    match one, other:
        case Constant(), Constant():
            return one.value == other.value
        case Subscript(), Subscript():
            return _same(one.value, other.value) and _same(one.index, other.index)
        case _:
            return dotted(one) is not None and dotted(one) == dotted(other)
