"""Groups of micro-batches: loops whose backward runs in every turn and whose step waits, and how their loss is divided.

Knows a mean over a micro-batch only where torch's own losses or a `.mean()` make it; what it cannot trace is unknown.
"""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from amplint.facts.accumulation.accelerate_groups import AccelerateGroups
from amplint.facts.accumulation.loss_trace import LossTrace
from amplint.facts.accumulation.micro_loops import is_of_parts, is_one, period_of
from amplint.facts.program.branches import leaves
from amplint.facts.protocol.guards import Guard, Guards, common_loop, ways_up
from amplint.facts.protocol.readings import Reading
from amplint.flow.boundaries import Boundary, BoundaryKind
from amplint.flow.graph import Step
from amplint.flow.terms import OPAQUE, Term
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Entity
from amplint.model.tree import Assign, Attribute, Call, Expr, ExprStmt, For, If, Name, Node, Stmt, Try, While, With
from amplint.model.walks import element, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

STEPS = (EventKind.STEP, EventKind.DIRECT_STEP)
COUNTED = (BoundaryKind.MODULO, BoundaryKind.COUNTER)
# Backward passes times steps of one root; more is no code that people write, and each pair is looked at.
MOST_PAIRS = 20_000


class Group(Entity):
    """A loop over micro-batches: its backward runs in every turn, its step at the end of a group.

    loss is what runs backward, as the function says that made it; at is the backward there, or the call that hands
    the loss on to it. guard and boundary are the test that the step waits for; both are None where it stands behind
    the loop. period is how many turns a group has, as it is written; None where that cannot be told.
    """

    reading: Reading
    loop: For | While
    backward: Step
    step: Step
    loss: Expr
    at: Step
    guard: Guard | None = None
    boundary: Boundary | None = None
    period: Expr | None = None

    @property
    def home(self) -> "Facts":
        """The module that made the loss."""
        return self.reading.scene.homes[self.at.frame]

    @property
    def is_zeroed(self) -> bool:
        """Whether gradients are zeroed in the block of the backward before it: then no turn adds to another.

        A statement there may also call what zeroes them, whatever the length of a group.
        """
        scene, frame = self.reading.scene, self.backward.frame
        zeroing = {
            id(way.node)
            for zero in self.reading.steps_of(EventKind.ZERO)
            if zero.frame == frame or not any(self.reading.guards.boundaries(zero))
            for way in ways_up(scene, zero)
            if way.frame == frame
        }
        index = scene.homes[frame].index
        statement = index.statement(self.backward.node)
        _, block = index.block(statement)
        said = (each.value for each in block[: block.index(statement)] if isinstance(each, ExprStmt | Assign))
        return any(id(call) in zeroing for call in said)


class Accumulation:
    """The groups of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups that the program keeps itself."""
        return tuple(group for reading in self._facts.protocol for group in _groups(reading))

    @cached_property
    def by_accelerate(self) -> AccelerateGroups:
        """The groups that Accelerate keeps."""
        return AccelerateGroups(self._facts)

    @cached_property
    def traced(self) -> tuple[tuple[Group, LossTrace], ...]:
        """Each group once, with how its loss came about."""
        once: dict[int, Group] = {}
        for group in self.groups:
            once.setdefault(id(group.at.node), group)
        return tuple(
            (group, LossTrace(reading=group.reading, loss=group.loss, frame=group.at.frame)) for group in once.values()
        )


def is_beyond(reading: Reading) -> bool:
    """Whether a root has too many backward passes and steps to ask of each pair whether they make a group."""
    return len(_backwards(reading)) * len(_steps(reading)) > MOST_PAIRS


def _backwards(reading: Reading) -> list[tuple[Step, Expr]]:
    return [
        (step, happening.loss)
        for step, _ in reading.scene.calls
        for happening in reading.events.of(step)
        if happening.kind is None and happening.loss is not None
    ]


def _steps(reading: Reading) -> list[Step]:
    return list(dict.fromkeys(reading.steps_of(*STEPS)))


def _groups(reading: Reading) -> Iterator[Group]:
    if is_beyond(reading):
        return
    guards = reading.guards
    backwards, steps = _backwards(reading), _steps(reading)
    for backward, loss in backwards:
        if _is_used_at_once(reading, guards, backward, steps):
            continue
        made = _made(reading, backward, loss)
        for step in (each for each in steps if _may_serve(reading, backward, loss, each)):
            found = _waiting(reading, guards, backward, step, made) or _behind(reading, backward, step, made)
            if found is not None:
                yield found
                break


def _made(reading: Reading, backward: Step, loss: Expr) -> tuple[Expr, Step]:
    """The loss as the function says that made it, and the backward or the call in that function that hands it on."""
    at, frames = backward, reading.scene.frames
    while True:
        name, frame = plain(loss), frames[at.frame]
        passed = next((p for p in frame.passed if isinstance(name, Name) and p.parameter.name == name.id), None)
        is_own = passed is not None and passed.value is not None and passed.frame == frame.parent
        if passed is None or not is_own or frame.call is None or _is_bound_again(reading, name, at.frame):
            return loss, at
        assert passed.value is not None
        loss, at = passed.value, replace(at, node=frame.call, frame=frame.parent)


def _is_bound_again(reading: Reading, name: Expr, frame: int) -> bool:
    """Whether a parameter gets another value, such as its own divided by something."""
    home, function = reading.scene.homes[frame], reading.scene.frames[frame].function
    return isinstance(name, Name) and len(home.names.bindings(function).get(name.id, ())) > 1


def plain(loss: Expr) -> Expr:
    """The loss inside of `scaler.scale(loss)`."""
    if isinstance(loss, Call) and isinstance(loss.func, Attribute) and loss.func.attr == "scale" and loss.args:
        return loss.args[0].value
    return loss


def _is_used_at_once(reading: Reading, guards: Guards, backward: Step, steps: list[Step]) -> bool:
    """Whether some step follows the backward and waits for no turns, as another optimizer's step may do."""
    own = {_asked(reading, guard) for guard in guards.of(backward)}
    free = {
        (way.frame, holder)
        for step in steps
        if all(guards.boundary(guard) is None or _asked(reading, guard) in own for guard in guards.of(step))
        for way in ways_up(reading.scene, step)
        for holder in _held_by(reading, way)
    }
    return any((way.frame, later) in free for way in ways_up(reading.scene, backward) for later in _later(reading, way))


def _asked(reading: Reading, guard: Guard) -> tuple[Term, bool]:
    """What a guard asks, so that the same question of another statement is the same."""
    term = reading.scene.terms.of(guard.test, guard.frame)
    return (term if term != OPAQUE else ("opaque", id(guard.test)), guard.is_true)


def _may_serve(reading: Reading, backward: Step, loss: Expr, step: Step) -> bool:
    """Whether a step may be that of a backward: not where another scaler makes it than the one that scales the loss."""
    if plain(loss) is loss:
        return True
    assert isinstance(loss, Call)
    assert isinstance(loss.func, Attribute)
    scaler = reading.scene.place(loss.func.value, backward.frame)
    return any(happening.scaler in (None, scaler) for happening in reading.events.of(step))


def _later(reading: Reading, step: Step) -> Iterator[Stmt]:
    """The statements that surely follow a step: in its block, and behind what the step is in but for loops."""
    index = reading.scene.homes[step.frame].index
    for statement in _held_by(reading, step):
        _, block = index.block(statement)
        behind = block[block.index(statement) + 1 :]
        yield from behind
        if leaves(behind):
            return


def _held_by(reading: Reading, step: Step) -> Iterator[Stmt]:
    """The statement of a step, and the `if`s, `with`s and `try`s around it in its loop."""
    index = reading.scene.homes[step.frame].index
    statement: Node = index.statement(step.node)
    while isinstance(statement, Stmt):
        yield statement
        holder, _ = index.block(statement)
        if not isinstance(holder, If | With | Try):
            return
        statement = holder


def _waiting(reading: Reading, guards: Guards, backward: Step, step: Step, made: tuple[Expr, Step]) -> Group | None:
    """The step stands in the loop, under a test that asks for a boundary."""
    loop = common_loop(reading.scene, backward, step)
    if loop is None:
        return None
    own = {id(guard.test) for guard in guards.of(backward)}
    for guard, asked in guards.boundaries(step):
        is_counted = asked.kind in COUNTED and not is_one(asked.period)
        if is_counted and id(guard.test) not in own and id(guard.test) in set(map(id, walk(loop))) | _flags(guard):
            return Group(reading, loop, backward, step, *made, guard, asked, asked.period)
    return None


def _flags(guard: Guard) -> set[int]:
    """A test in a callee is in the caller's loop although it is not written there."""
    return {id(guard.test)} if guard.frame else set()


def _behind(reading: Reading, backward: Step, step: Step, made: tuple[Expr, Step]) -> Group | None:
    """The step stands behind a loop over micro-batches, both in one function."""
    if backward.frame != step.frame or step.node.span < backward.node.span:
        return None
    index = reading.scene.homes[backward.frame].index
    inner, outer = index.loops(backward.node), index.loops(step.node)
    if not inner or inner[0] in outer or not isinstance(inner[0], For) or set(map(id, outer)) - set(map(id, inner)):
        return None
    loop = inner[0]
    given = partial(_assigned_once, reading.scene.homes[backward.frame])
    if id(step.node) in set(map(id, walk(loop))) or not is_of_parts(loop, given):
        return None
    return Group(reading, loop, backward, step, *made, period=period_of(loop, given))


def _assigned_once(home: "Facts", name: Name) -> Expr | None:
    """What a name was assigned, alone or beside others, where it was once."""
    found = home.names.lookup(name.id, name)
    if len(found) != 1 or found[0].value is not None:
        return found[0].value if len(found) == 1 else None
    given = home.values.unpacked(found[0].node)
    return element(given.value, given.part)
