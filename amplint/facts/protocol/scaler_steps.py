"""Steps and clips that a scaler cannot serve: steps with a closure, clips that raise where the scaler would skip.

Knows which closures are certainly functions, and which clips certainly see gradients that a scaler looked at.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.protocol.readings import Reading
from amplint.facts.protocol.roles import ScalerRole, called_names
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Entity
from amplint.model.tree import (
    Argument,
    Call,
    Constant,
    ExceptHandler,
    Expr,
    FunctionDef,
    Lambda,
    Name,
    Node,
    Raise,
    Try,
    Tuple,
)
from amplint.model.walks import is_none, is_of_self, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

LBFGS = "torch.optim.LBFGS"
_OF_A_CLIP = frozenset({"builtins.RuntimeError", "builtins.Exception", "builtins.BaseException"})


class ClosureStep(Entity):
    """A scaler's step of an optimizer that needs a closure: closure is the argument, None where it is missing."""

    home: "Facts"
    call: Call
    closure: Argument | None


class RaisingClip(Entity):
    """A clip with `error_if_nonfinite=True`, after the scaler's unscale_."""

    home: "Facts"
    call: Call
    unscale: Call


def closure_steps(readings: "tuple[Reading, ...]") -> Iterator[ClosureStep]:
    """Every step with a closure, once, in whichever reading it is seen."""
    seen: set[Node] = set()
    for reading in readings:
        for step in reading.steps_of(EventKind.STEP):
            call = step.node
            if not isinstance(call, Call) or call in seen or not call.args:
                continue
            home = reading.scene.homes[step.frame]
            closure = closure_of(home, call)
            if closure is not None and _may_take_closures(reading, step):
                continue
            if closure is not None or _needs_closure(reading, step, call):
                seen.add(call)
                yield ClosureStep(home, call, closure)


def closure_of(home: "Facts", call: Node) -> Argument | None:
    """The argument of a scaler's step that is certainly a function."""
    given = (a for a in call.args[1:] if not a.star and a.name in (None, "closure")) if isinstance(call, Call) else ()
    return next((argument for argument in given if _is_function(home, argument.value)), None)


def _may_take_closures(reading: Reading, step: Step) -> bool:
    """Whether a scaler is held by an object inside another, and nobody sees what was put there."""
    for happening in reading.events.of(step):
        match reading.roles.scalers.get(happening.scaler) if happening.scaler is not None else None:
            case ScalerRole(place=("attr", ("attr", *_), _), made=None):
                return True
            case _:
                pass
    return False


def raising_clips(readings: "tuple[Reading, ...]") -> Iterator[RaisingClip]:
    """Every clip that raises on what `step` would skip, once."""
    seen: set[Node] = set()
    for reading in readings:
        for step in reading.steps_of(EventKind.CLIP):
            call = step.node
            if not isinstance(call, Call) or call in seen or not any(map(_raises, call.args)):
                continue
            before = unscale_before(reading, step)
            if before is not None and not is_caught(reading.scene.homes[step.frame], call):
                seen.add(call)
                yield RaisingClip(reading.scene.homes[step.frame], call, before)


def _is_function(facts: "Facts", expr: Expr) -> bool:
    """Whether an expression is certainly a function, and not an optional argument handed on."""
    if isinstance(expr, Lambda):
        return True
    if isinstance(expr, Name):
        bindings = facts.names.lookup(expr.id, expr)
        return bool(bindings) and all(isinstance(b.node, FunctionDef) or isinstance(b.value, Lambda) for b in bindings)
    if is_of_self(expr):
        klass = facts.index.klass(expr)
        methods = [s for s in klass.body if isinstance(s, FunctionDef) and s.name == expr.attr] if klass else []
        return bool(methods) and not any(method.decorators for method in methods)  # a property gives a value
    return False


def _needs_closure(reading: Reading, step: Step, call: Call) -> bool:
    """Whether the optimizer is certainly LBFGS, and nothing beside it is given."""
    if len(call.args) > 1 and not all(is_none(argument.value) for argument in call.args[1:]):
        return False
    made = reading.scene.origins(call.args[0].value, step.frame)
    names = [called_names(origin) for origin in made]
    return bool(names) and all(name == {LBFGS} for name in names)


def _raises(argument: Argument) -> bool:
    return (
        argument.name == "error_if_nonfinite" and isinstance(argument.value, Constant) and argument.value.value is True
    )


def is_caught(home: "Facts", call: Node) -> bool:
    """Whether the function itself catches what a clip raises, so that the run goes on without the step."""
    child: Node = call
    for outer in home.index.ancestors(call):
        if isinstance(outer, FunctionDef):
            return False
        if isinstance(outer, Try) and child in outer.body and any(_catches(home, each) for each in outer.handlers):
            return True
        child = outer
    return False


def _catches(home: "Facts", handler: ExceptHandler) -> bool:
    """Whether a handler catches a RuntimeError, and does not raise it again."""
    if any(isinstance(node, Raise) for statement in handler.body for node in walk(statement)):
        return False
    given = handler.type
    classes = given.elts if isinstance(given, Tuple) else () if given is None else (given,)
    return given is None or any(home.names.canonical(each) in _OF_A_CLIP for each in classes)


def unscale_before(reading: Reading, clip: Step) -> Call | None:
    """An unscale_ that certainly came first: it stands before the clip in the same block, or in one around it."""
    index = reading.scene.homes[clip.frame].index
    statement = index.statement(clip.node)
    before: set[Node] = set()
    while True:
        holder, block = index.block(statement)
        before.update(block[: block.index(statement)])
        if isinstance(holder, FunctionDef) or holder not in index.parents:
            break
        statement = index.statement(holder)
    for step in reading.steps_of(EventKind.UNSCALE):
        call = step.node
        if isinstance(call, Call) and step.frame == clip.frame and index.statement(call) in before:
            return call
    return None
