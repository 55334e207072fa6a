"""Optimizers that are made, served and zeroed in one function, and never stepped there although nobody else has them.

Knows local names alone: an optimizer that leaves its function, on whatever way, may be stepped elsewhere.
"""

from collections.abc import Iterator

from amplint.facts.protocol import Reading
from amplint.facts.roles import is_optimizer_name
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import Argument, Attribute, Call, Name, Node, last_name, walk

SERVED = (EventKind.UNSCALE, EventKind.ZERO)
KEEPING = frozenset(
    {"zero_grad", "state_dict", "load_state_dict", "param_groups", "add_param_group", "state", "unscale_"}
)


def forgotten(reading: Reading) -> Iterator[tuple[str, Step]]:
    """The name of each, with the first call that unscales or zeroes its gradients."""
    updates = list(reading.steps_of(EventKind.UPDATE))
    if not updates or not any(reading.steps_of(EventKind.SCALE)):
        return
    for place in reading.roles.optimizers:
        steps = list(reading.steps_of(EventKind.STEP, EventKind.DIRECT_STEP, EventKind.FORGET))
        is_stepped = any(
            happening.optimizers is None or place in happening.optimizers
            for step in steps
            for happening in reading.events.of(step)
            if happening.kind in (EventKind.STEP, EventKind.DIRECT_STEP, EventKind.FORGET)
        )
        name = None if is_stepped else _local_name(reading, place)
        sites = [step for step in reading.steps_of(*SERVED) if _is_about(reading, step, place)]
        if name is not None and sites:
            yield name, min(sites, key=lambda step: (_is_zero(reading, step), step.node.span))


def _local_name(reading: Reading, place: Term) -> str | None:
    """The name of an optimizer that its function makes and keeps to itself."""
    match place:
        case ("name", str(name), int(frame)):
            home, function = reading.scene.homes[frame], reading.scene.frames[frame].function
        case _:
            return None
    bindings = home.names.bindings(function).get(name, ())
    value = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(value, Call) or not any(map(is_optimizer_name, home.names.meaning(value.func).names)):
        return None
    uses = [node for node in walk(function) if isinstance(node, Name) and node.id == name]
    return name if all(_is_kept(home.index.parents, node) for node in uses) else None


def _is_kept(parents: dict[Node, Node], use: Name) -> bool:
    around = parents.get(use)
    if isinstance(around, Attribute):
        return around.attr in KEEPING
    call = parents.get(around) if isinstance(around, Argument) else None
    if isinstance(call, Call):
        last = last_name(call.func)
        return last in KEEPING or last.endswith("LR")
    return getattr(around, "value", None) is not use and use in getattr(around, "targets", ())


def _is_about(reading: Reading, step: Step, place: Term) -> bool:
    return any(happening.optimizers == (place,) for happening in reading.events.of(step))


def _is_zero(reading: Reading, step: Step) -> bool:
    return all(happening.kind is EventKind.ZERO for happening in reading.events.of(step))
