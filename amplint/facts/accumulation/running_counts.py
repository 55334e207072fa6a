"""Whether a count of turns lives on from one loop to the next, and whether a loop leaves its last turns out.

Knows how a program counts; what becomes of gradients is for `tails.py`.
"""

from typing import TYPE_CHECKING

from amplint.facts.accumulation.groups import Group
from amplint.facts.protocol.guards import ways_up
from amplint.model.tree import Attribute, Binary, Break, Constant, Continue, Expr, FunctionDef, If, Name, Node
from amplint.model.walks import dotted, is_of_self, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def frame_of(group: Group) -> int:
    """The frame that runs the loop."""
    inside = {id(node) for node in walk(group.loop)}
    return next(step.frame for step in ways_up(group.reading.scene, group.step) if id(step.node) in inside)


def is_kept_on_self(group: Group, home: "Facts") -> bool | None:
    """Whether turns are counted in an attribute that no loop sets back; None for a count in a name."""
    counter = group.boundary.counter if group.boundary is not None else None
    if not isinstance(counter, Attribute):
        return None
    return _is_never_reset(group, home, counter)


def counts_on(home: "Facts", counter: Name) -> bool:
    """`i + batches * epoch`: the turns of the loops before are counted too."""
    values = [binding.value for binding in home.names.lookup(counter.id, counter)]
    return any(
        isinstance(value, Binary)
        and value.op == "+"
        and any(isinstance(side, Binary) and side.op == "*" for side in (value.left, value.right))
        for value in values
    )


def skips_the_rest(group: Group) -> bool:
    """Whether the loop is left, or turns are skipped, once all full groups are done: `if i // n >= steps: continue`."""
    period = dotted(group.period) if group.period is not None else None
    if period is None:
        return False
    home = group.reading.scene.homes[frame_of(group)]
    for statement in group.loop.body:
        if not isinstance(statement, If) or not isinstance(statement.body[-1], Continue | Break):
            continue
        for _, node in home.values.closure(statement.test):
            if isinstance(node, Binary) and node.op == "//" and dotted(node.right) == period:
                return True
    return False


def _is_never_reset(group: Group, home: "Facts", counter: Attribute) -> bool:
    """Whether an attribute of self starts at a number once, and again only where a group is complete."""
    klass = home.index.klass(counter)
    given = home.values.attribute(klass, counter.attr) if klass is not None and is_of_self(counter) else ()
    starts = [(facts, each.value) for facts, each in given if isinstance(each.value, Constant)]
    return bool(starts) and all(_is_a_first_start(group, facts, value) for facts, value in starts)


def _is_part_of_init(facts: "Facts", method: FunctionDef) -> bool:
    """Whether the constructor alone calls a method, its own or that of a base that is not seen here."""
    index = facts.index
    calls = [call for call in facts.targets.named(method.name) if isinstance(call.func, Attribute)]
    callers = [index.function(call) for call in calls]
    klass = index.klass(method)
    return (bool(calls) or (klass is not None and bool(klass.bases))) and all(
        isinstance(caller, FunctionDef) and caller.name == "__init__" and index.klass(call) is klass
        for caller, call in zip(callers, calls, strict=True)
    )


def _is_a_first_start(group: Group, facts: "Facts", value: Expr | None) -> bool:
    if value is None:
        return False
    function = facts.index.function(value)
    if not isinstance(function, FunctionDef) or function.name == "__init__" or _is_part_of_init(facts, function):
        return True
    test: Node | None = group.guard.test if group.guard is not None else None
    return any(isinstance(outer, If) and outer.test is test for outer in facts.index.ancestors(value))
