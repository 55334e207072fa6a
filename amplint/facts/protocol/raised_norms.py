"""Programs that raise, by hand, on a gradient norm that is not finite, although a scaler would skip such a step.

Knows plain tests of the norm that a clip returns; refuses to judge exceptions of a kind that somebody may wait for.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.protocol.guards import ways_up
from amplint.facts.protocol.readings import Reading
from amplint.facts.protocol.scaler_steps import is_caught, unscale_before
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Entity
from amplint.model.tree import Assert, Assign, Attribute, BoolOp, Call, Expr, If, Name, Node, Raise, Stmt, Unary
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

ENDING = frozenset({"RuntimeError", "ValueError", "AssertionError", "Exception", "SystemExit"})
SAME = frozenset({"any", "all", "item", "bool"})


class RaisedNorm(Entity):
    """A statement that ends the run where the norm of unscaled gradients is not finite."""

    home: "Facts"
    place: Raise | Assert
    clip: Call
    unscale: Call


def raised_norms(readings: "tuple[Reading, ...]") -> Iterator[RaisedNorm]:
    """Every such statement, once."""
    seen: set[Node] = set()
    for reading in readings:
        for step in reading.steps_of(EventKind.CLIP, EventKind.READ):
            before = unscale_before(reading, step)
            place = _raised(reading, step) if before is not None else None
            if before is None or place is None or place in seen or not isinstance(step.node, Call):
                continue
            if not any(is_caught(reading.scene.homes[way.frame], way.node) for way in ways_up(reading.scene, step)):
                seen.add(place)
                yield RaisedNorm(reading.scene.homes[step.frame], place, step.node, before)


def _raised(reading: Reading, clip: Step) -> Raise | Assert | None:
    """The exit, in the block of a clip, for a norm that the clip returned."""
    index = reading.scene.homes[clip.frame].index
    statement = index.statement(clip.node)
    if not isinstance(statement, Assign) or len(statement.targets) != 1 or not isinstance(statement.targets[0], Name):
        return None
    norm = statement.targets[0].id
    _, block = index.block(statement)
    found = (_exit(each, norm) for each in block[block.index(statement) + 1 :])
    return next((each for each in found if each is not None), None)


def _exit(statement: Stmt, norm: str) -> Raise | Assert | None:
    match statement:
        case Assert() if _asks(statement.test, norm, is_finite=True):
            return statement
        case If(body=(*_, Raise() as last)) if _asks(statement.test, norm, is_finite=False):
            raised = last.exc.func if isinstance(last.exc, Call) else last.exc
            return last if raised is not None and last_name(raised) in ENDING else None
        case _:
            return None


def _asks(test: Expr, norm: str, *, is_finite: bool) -> bool:
    """Whether a test is true wherever a norm is finite (or infinite), and asks for nothing else."""
    match test:
        case Unary(op="not" | "~"):
            return _asks(test.operand, norm, is_finite=not is_finite)
        case BoolOp():
            return test.op == ("and" if is_finite else "or") and any(
                _asks(value, norm, is_finite=is_finite) for value in test.values
            )
        case Call(func=Attribute(value=inner, attr=name), args=()) if name in SAME:
            return _asks(inner, norm, is_finite=is_finite)
        case Call():
            return last_name(test.func) == ("isfinite" if is_finite else "isinf") and _is_of(test, norm)
        case _:
            return False


def _is_of(call: Call, norm: str) -> bool:
    asked = call.args[0].value if call.args else call.func.value if isinstance(call.func, Attribute) else None
    return isinstance(asked, Name) and asked.id == norm
