"""Whether a loop over micro-batches leaves an incomplete group behind, and whether that one is stepped after it.

Refuses to know how many micro-batches there are.
"""

from typing import TYPE_CHECKING

from amplint.facts.accumulation import Group
from amplint.facts.guards import ways_up
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import (
    Attribute,
    Binary,
    Break,
    Call,
    Constant,
    Continue,
    Expr,
    For,
    FunctionDef,
    Global,
    If,
    Name,
    Node,
    Nonlocal,
    dotted,
    own_nodes,
    walk,
)

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def has_tail(group: Group, home: "Facts") -> bool:
    """Whether the loop may end within a group that no other loop goes on with. home is the module of the test."""
    return _is_over_a_loader(group) and not _goes_on(group, home) and not _skips_the_rest(group)


def has_tail_step(group: Group) -> bool:
    """Whether a step stands behind the loop, in the function that has the loop."""
    scene, inside = group.reading.scene, {id(node) for node in walk(group.loop)}
    frame = _frame(group)
    return any(
        way.frame == frame and way.node.span > group.loop.span and id(way.node) not in inside
        for step in group.reading.steps_of(EventKind.STEP, EventKind.DIRECT_STEP)
        for way in ways_up(scene, step)
    )


def _is_over_a_loader(group: Group) -> bool:
    """A loop that ends with its data; one over a fixed number of steps has no tail of its own."""
    if not isinstance(group.loop, For):
        return False
    iterated = group.loop.iter
    return not (
        isinstance(iterated, Call) and isinstance(iterated.func, Name) and iterated.func.id in ("range", "count")
    )


def _goes_on(group: Group, home: "Facts") -> bool:
    """Whether both the count and the gradients of an incomplete group live on into the next loop."""
    counter = group.boundary.counter if group.boundary is not None else None
    if counter is None or _is_zeroed_before(group):
        return False
    if isinstance(counter, Name):
        return _is_of_outer_scope(home, counter) or _counts_on(home, counter)
    return isinstance(counter, Attribute) and _is_never_reset(group, home, counter)


def _is_zeroed_before(group: Group) -> bool:
    scene, frame = group.reading.scene, _frame(group)
    return any(
        way.frame == frame and way.node.span < group.loop.span
        for step in group.reading.steps_of(EventKind.ZERO)
        for way in ways_up(scene, step)
    )


def _frame(group: Group) -> int | None:
    """The frame of the loop."""
    inside = {id(node) for node in walk(group.loop)}
    ways = ways_up(group.reading.scene, group.step)
    return next((way.frame for way in ways if id(way.node) in inside), None)


def _is_of_outer_scope(home: "Facts", counter: Name) -> bool:
    function = home.index.function(counter)
    return isinstance(function, FunctionDef) and any(
        isinstance(node, Global | Nonlocal) and counter.id in node.names for node in own_nodes(function)
    )


def _counts_on(home: "Facts", counter: Name) -> bool:
    """`i + batches * epoch`: the turns of the loops before are counted too."""
    values = [binding.value for binding in home.names.lookup(counter.id, counter)]
    return any(
        isinstance(value, Binary)
        and value.op == "+"
        and any(isinstance(side, Binary) and side.op == "*" for side in (value.left, value.right))
        for value in values
    )


def _is_never_reset(group: Group, home: "Facts", counter: Attribute) -> bool:
    """Whether an attribute of self starts at a number once, and again only where a group is complete."""
    klass = home.index.klass(counter)
    is_own = isinstance(counter.value, Name) and counter.value.id == "self"
    given = home.values.attribute(klass, counter.attr) if klass is not None and is_own else ()
    starts = [(facts, each.value) for facts, each in given if isinstance(each.value, Constant)]
    return bool(starts) and all(_is_a_first_start(group, facts, value) for facts, value in starts)


def _is_a_first_start(group: Group, facts: "Facts", value: Expr | None) -> bool:
    if value is None:
        return False
    function = facts.index.function(value)
    if not isinstance(function, FunctionDef) or function.name == "__init__":
        return True
    test: Node | None = group.guard.test if group.guard is not None else None
    return any(isinstance(outer, If) and outer.test is test for outer in facts.index.ancestors(value))


def _skips_the_rest(group: Group) -> bool:
    """Whether the loop is left, or turns are skipped, once all full groups are done: `if i // n >= steps: continue`."""
    period, frame = dotted(group.period) if group.period is not None else None, _frame(group)
    if period is None or frame is None:
        return False
    home = group.reading.scene.homes[frame]
    for statement in group.loop.body:
        if not isinstance(statement, If) or not isinstance(statement.body[-1], Continue | Break):
            continue
        for _, node in home.values.closure(statement.test):
            if isinstance(node, Binary) and node.op == "//" and dotted(node.right) == period:
                return True
    return False
