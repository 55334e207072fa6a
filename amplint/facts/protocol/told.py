"""Whether a condition asks if a step was taken: by a flag, a count or a list beside the step, or by what its loop read.

Knows the shapes of such conditions; refuses to know whether they are right.
"""

from collections.abc import Iterator

from amplint.facts.protocol.guards import Guard
from amplint.facts.protocol.readings import Reading
from amplint.facts.protocol.scene import PASSING_ON, Scene
from amplint.flow.boundaries import asks_for_the_last
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import Assign, Attribute, AugAssign, Call, Compare, Constant, Expr, ExprStmt, For, Node, Stmt
from amplint.model.walks import dotted, last_name

NOTHING = 0
FILLING = frozenset({"append", "add", "extend", "update", "insert"})


def is_waited_for(reading: Reading, step: Step) -> bool:
    """Whether an update beside a step waits for word of it, or for the last of several optimizers."""
    return any(
        is_told(reading, update, step) or any(asks_for_the_last(g.test) for g in _more(reading, update, step))
        for update in reading.steps_of(EventKind.UPDATE)
        if reading.are_together(update, step) and not _ends_another(reading, update, step)
    )


def _ends_another(reading: Reading, update: Step, step: Step) -> bool:
    """Whether an update follows a step in its own block, other than the one that is asked about: it ends that one."""
    index = reading.scene.homes[update.frame].index
    _, block = index.block(index.statement(update.node))
    return (
        any(
            other != step and other.frame == update.frame and other.node.span < update.node.span
            for other in reading.steps_of(EventKind.STEP)
            if index.statement(other.node) in block
        )
        and index.statement(step.node) not in block
    )


def is_told(reading: Reading, update: Step, step: Step) -> bool:
    """Whether an update waits for word that a step of its own function was taken."""
    if update.frame != step.frame:
        return False
    asked = {_asked(guard.test) for guard in _more(reading, update, step) if guard.is_true}
    return not (asked - {None}).isdisjoint(_signs(reading.scene, step))


def _more(reading: Reading, update: Step, step: Step) -> Iterator[Guard]:
    """The guards of an update that a step does not have."""
    own = {id(guard.test) for guard in reading.guards.of(step)}
    return (guard for guard in reading.guards.of(update) if id(guard.test) not in own)


def _asked(test: Expr) -> str | None:
    """The name that a test asks for being something: `done`, `len(done) > 0`, `any(done)`, `count != 0`."""
    match test:
        case Compare(ops=[">" | "!="], comparators=[Constant(value=value)]) if value == NOTHING:
            return _asked(test.left)
        case Compare(ops=[">="], comparators=[Constant(value=value)]) if value == NOTHING + 1:
            return _asked(test.left)
        case Call() if last_name(test.func) in ("len", "any", "bool", "sum") and len(test.args) == 1:
            return _asked(test.args[0].value)
        case _:
            return dotted(test)


def _signs(scene: Scene, step: Step) -> Iterator[str | None]:
    """The names that change with a step: those bound or filled beside it, and what the loops around it go through."""
    index = scene.homes[step.frame].index
    _, block = index.block(index.statement(step.node))
    for statement in block:
        yield from _left_behind(statement)
    for loop in index.loops(step.node):
        if isinstance(loop, For):
            yield _gone_through(loop.iter)


def _left_behind(statement: Stmt) -> Iterator[str | None]:
    match statement:
        case Assign():
            yield from map(dotted, statement.targets)
        case AugAssign():
            yield dotted(statement.target)
        case ExprStmt(value=Call(func=Attribute() as filled)) if filled.attr in FILLING:
            yield dotted(filled.value)
        case _:
            pass


def _gone_through(iterated: Node) -> str | None:
    match iterated:
        case Call(func=Attribute() as view) if view.attr == "keys" or view.attr in PASSING_ON:
            return dotted(view.value)
        case Call() if last_name(iterated.func) in PASSING_ON and iterated.args:
            return _gone_through(iterated.args[0].value)
        case _:
            return dotted(iterated)
