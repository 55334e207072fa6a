"""What becomes of the last, incomplete group of a loop over batches: lost, leaked into the next epoch, or mis-weighted.

Knows loops that end with their data; refuses to know how many batches a loader has.
"""

from collections.abc import Iterator, Set
from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.facts.accumulation.groups import Group
from amplint.facts.accumulation.loss_returns import is_divided_by
from amplint.facts.accumulation.loss_trace import LossTrace
from amplint.facts.accumulation.running_counts import counts_on, frame_of, is_kept_on_self, skips_the_rest
from amplint.facts.protocol.guards import ways_up
from amplint.flow.boundaries import BoundaryKind
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Value
from amplint.model.tree import Assign, AugAssign, Binary, Call, Constant, Expr, For, FunctionDef, Name, Node
from amplint.model.walks import dotted, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

ENDLESS = frozenset({"range", "count"})


class TailFault(StrEnum):
    """What is wrong with a tail.

    unstepped: no step comes for it. zeroed: the count runs on over epochs, but the gradients are zeroed at the start of
    each. misweighted: it is stepped with losses divided by the full length. shifted: the length changes inside the
    loop while turns are counted by remainder, so that groups before the last are cut.
    """

    UNSTEPPED = "unstepped"
    ZEROED = "zeroed"
    MISWEIGHTED = "misweighted"
    SHIFTED = "shifted"


class Tail(Value):
    """A tail that goes wrong: the place that has to change, and its module.

    place is the test that the step waits for, or what the length is changed to. because: what explains it.
    """

    fault: TailFault
    place: Expr
    home: "Facts"
    because: Node | None = None


def tails(groups: tuple[Group, ...]) -> Iterator[Tail]:
    """The tails of some groups, each test once."""
    seen: set[int] = set()
    for group in groups:
        if group.guard is None or id(group.guard.test) in seen or not _is_over_a_loader(group):
            continue
        guards = group.reading.guards
        test, frame = guards.asked(group.guard)
        tail = _tail(group, guards.value(test, frame) or test, group.reading.scene.homes[frame])
        if tail is not None and not _is_of_one(group):
            seen.add(id(group.guard.test))
            yield tail


def _tail(group: Group, test: Expr, home: "Facts") -> Tail | None:
    assert group.boundary is not None
    change = _changed_length(group)
    if change is not None:
        return Tail(TailFault.SHIFTED, change, group.reading.scene.homes[frame_of(group)], test)
    if skips_the_rest(group):
        return None
    is_kept = is_kept_on_self(group, home)
    begins_anew = not is_kept and (is_kept is False or _starts_anew(group, home))
    if group.boundary.has_last or (begins_anew and _has_tail_step(group)):
        return Tail(TailFault.MISWEIGHTED, test, home) if _is_divided(group) else None
    if begins_anew:
        return Tail(TailFault.UNSTEPPED, test, home)
    zero = _zeroed_before(group)
    return Tail(TailFault.ZEROED, test, home, zero) if zero is not None else None


def _is_of_one(group: Group) -> bool:
    """Whether a group is one turn for good: the length is a name that is 1 wherever it is given."""
    home = _home_of_period(group)
    found = home.values.origins(group.period) if home is not None and group.period is not None else ()
    return bool(found) and all(isinstance(origin.node, Constant) and origin.node.value == 1 for origin in found)


def _home_of_period(group: Group) -> "Facts | None":
    """The module that says how long a group is, which may be another than that of the loop."""
    return next((home for home in group.reading.scene.homes if group.period in home.index.parents), None)


def _is_over_a_loader(group: Group) -> bool:
    """A loop that ends with its data; one over a fixed number of steps has no tail of its own."""
    if not isinstance(group.loop, For):
        return False
    iterated = group.loop.iter
    return not (isinstance(iterated, Call) and isinstance(iterated.func, Name) and iterated.func.id in ENDLESS)


def _changed_length(group: Group) -> Expr | None:
    """What the length of a group is changed to inside the loop, where turns are counted by remainder.

    Not where every turn gives it the same value, of which nothing in the loop makes another.
    """
    assert group.boundary is not None
    if group.boundary.kind is not BoundaryKind.MODULO or not isinstance(group.period, Name):
        return None
    inside = _assigned(group.loop.body)
    values = inside.get(group.period.id, [])
    home = _home_of_period(group)
    if home is not group.reading.scene.homes[frame_of(group)]:
        return None
    bindings = home.names.lookup(group.period.id, group.period)
    is_steady = len(values) == len(bindings) == 1 and _names(values[0]).isdisjoint(inside)
    return None if is_steady else next(iter(values), None)


def _is_divided(group: Group) -> bool:
    trace = LossTrace(reading=group.reading, loss=group.loss, frame=group.at.frame)
    return any(is_divided_by(division.divisor, group.period) for division in trace.divisions)


def _starts_anew(group: Group, home: "Facts") -> bool:
    """Whether the count of turns begins anew with the loop; home is the module of the test, and of its counter."""
    assert isinstance(group.loop, For)
    assert group.boundary is not None
    counter = group.boundary.counter
    if isinstance(counter, Name) and counts_on(home, counter):
        return False
    targets = _names(group.loop.target)
    index = group.reading.scene.homes[frame_of(group)].index
    outer = index.loops(group.loop)
    epochs = {name for loop in outer if isinstance(loop, For) for name in _names(loop.target)}
    around: Node | None = outer[0] if outer else index.function(group.loop)
    inside = {id(node) for node in walk(group.loop)}
    before = _assigned(getattr(around, "body", ()), inside) if around is not None else {}
    derived = _assigned(group.loop.body)
    for name in _counted(group):
        values = derived.get(name, [])
        mentioned = {part for value in values for part in _names(value)}
        is_derived = bool(mentioned & targets) and not _spans_epochs(mentioned, epochs)
        if name in targets or name in before or is_derived:
            return True
    return False


def _counted(group: Group) -> Iterator[str]:
    """The places that a test counts in: of a distance, the one that says how far the last step is."""
    assert group.boundary is not None
    counter = group.boundary.counter
    yield from _names(counter.right if group.boundary.is_distance and isinstance(counter, Binary) else counter)


def _names(node: Node | None) -> set[str]:
    return {name for part in (walk(node) if node is not None else ()) if (name := dotted(part)) is not None}


def _spans_epochs(names: set[str], epochs: set[str]) -> bool:
    return any(name in epochs or "epoch" in name for name in names)


def _assigned(body: tuple[Node, ...], without: Set[int] = frozenset()) -> dict[str, list[Expr]]:
    """The dotted names that some statements assign, with the values; not those that a function defined there does."""
    found: dict[str, list[Expr]] = {}
    for statement in (each for each in body if not isinstance(each, FunctionDef)):
        for node in walk(statement):
            if id(node) in without or not isinstance(node, Assign | AugAssign):
                continue
            for target in node.targets if isinstance(node, Assign) else (node.target,):
                name = dotted(target)
                if name is not None:
                    found.setdefault(name, []).append(node.value)
    return found


def _has_tail_step(group: Group) -> bool:
    """Whether a step stands behind the loop, in the function that has the loop."""
    scene, inside, frame = group.reading.scene, {id(node) for node in walk(group.loop)}, frame_of(group)
    return any(
        way.frame == frame and way.node.span > group.loop.span and id(way.node) not in inside
        for step in group.reading.steps_of(EventKind.STEP, EventKind.DIRECT_STEP)
        for way in ways_up(scene, step)
    )


def _zeroed_before(group: Group) -> Node | None:
    """A zero_grad before the loop, which every epoch runs through."""
    scene, inside, frame = group.reading.scene, {id(node) for node in walk(group.loop)}, frame_of(group)
    around = scene.homes[frame].index.loops(group.loop)
    held = {id(node) for node in walk(around[0])} if around else None
    for step in group.reading.steps_of(EventKind.ZERO):
        for way in ways_up(scene, step):
            is_here = way.frame == frame and id(way.node) not in inside and way.node.span < group.loop.span
            if is_here and (held is None or id(way.node) in held):
                return step.node
    return None
