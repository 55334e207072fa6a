"""Rounds of a scaler that lack a part on every path: no step of any optimizer, or no update behind the step.

Knows whole functions, not paths; refuses to judge a scaler that something unseen is given, or may serve by its name.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callers import all_importers
from amplint.facts.protocol.guards import loop_around
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.knowledge import training_names as known
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import Attribute, Call, ClassDef, Expr, Name
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

ENDS = (EventKind.UPDATE, EventKind.SET_SCALE)


def unapplied(reading: Reading) -> Iterator[Step]:
    """The unscale_, or else the update, of each scaler that scales and updates in a function and steps nowhere."""
    for scaler in reading.roles.scalers:
        if _is_in_other_hands(reading, scaler) or any(reading.steps_of(EventKind.STEP, scaler=scaler)):
            continue
        for update in reading.steps_of(EventKind.UPDATE, scaler=scaler):
            scaled = _before(reading, update, scaler, EventKind.SCALE)
            if scaled and not _is_done_elsewhere(reading, update, "step") and not _may_be_done_here(reading, update):
                yield next(iter(_before(reading, update, scaler, EventKind.UNSCALE)), update)
                break


def unended(reading: Reading) -> Iterator[Step]:
    """The step of each method that trains one batch with the scaler of its object, which nothing in sight updates.

    The object is there to be asked again: its second step raises.
    """
    if reading.root.klass is None:
        return
    for scaler in reading.roles.scalers:
        if _is_in_other_hands(reading, scaler) or any(reading.steps_of(*ENDS, scaler=scaler)):
            continue
        for step in reading.steps_of(EventKind.STEP, scaler=scaler):
            is_whole = bool(_before(reading, step, scaler, EventKind.SCALE)) and step.frame == 0
            is_repeated = loop_around(reading.scene, step) is not None
            if (
                is_whole
                and not is_repeated
                and _is_own(reading, step)
                and not _is_done_elsewhere(reading, step, "update")
            ):
                yield step
                break


def _before(reading: Reading, later: Step, scaler: Term, kind: EventKind) -> list[Step]:
    """The steps of a kind in the function of a later one, above it."""
    return [
        step
        for step in reading.steps_of(kind, scaler=scaler)
        if step.frame == later.frame and step.node.span < later.node.span
    ]


def _is_in_other_hands(reading: Reading, scaler: Term) -> bool:
    return any(reading.steps_of(EventKind.FORGET, scaler=scaler))


def _is_own(reading: Reading, step: Step) -> bool:
    """Whether the scaler of a step is one that the class of its method makes for each of its objects."""
    receiver = _receiver(step)
    if not isinstance(receiver, Attribute) or not isinstance(receiver.value, Name) or receiver.value.id != "self":
        return False
    home = reading.scene.homes[step.frame]
    return bool(home.training.made_by(receiver, known.is_scaler))


def _is_done_elsewhere(reading: Reading, step: Step, method: str) -> bool:
    """Whether a function that is not part of the reading calls a method of something that has the scaler's name.

    An attribute may be used wherever its class is known, a local name in its module.
    """
    receiver = _receiver(step)
    name, home = last_name(receiver) if receiver is not None else "", reading.scene.homes[step.frame]
    seen = {frame.function for frame in reading.scene.frames}
    homes = all_importers(home, {name}) if isinstance(receiver, Attribute) else (home,)
    return any(
        isinstance(call.func, Attribute)
        and (call.func.attr, last_name(call.func.value)) == (method, name)
        and other.index.function(call) not in seen
        for other in (*homes, *_bases(home, step))
        for call in other.index.calls
    )


def _bases(home: "Facts", step: Step) -> "Iterator[Facts]":
    """The modules of the bases of the class around a step."""
    klass = home.index.klass(step.node)
    yield from (facts for facts, _ in home.targets.lineage(klass)) if isinstance(klass, ClassDef) else ()


def _may_be_done_here(reading: Reading, step: Step) -> bool:
    """Whether the function calls something of its own that says in its name that it steps, and is not seen."""
    index = reading.scene.homes[step.frame].index
    function = index.function(step.node)
    entered = {id(frame.call) for frame in reading.scene.frames}
    return any(
        index.function(call) is function and id(call) not in entered and _says_step(call.func) for call in index.calls
    )


def _says_step(func: Expr) -> bool:
    if isinstance(func, Attribute) and func.attr == "step":
        return isinstance(func.value, Name) and func.value.id == "self"
    return "step" in last_name(func).lower()


def _receiver(step: Step) -> Expr | None:
    call = step.node
    return call.func.value if isinstance(call, Call) and isinstance(call.func, Attribute) else None
