"""Optimizers that are made, served and zeroed in one function, and never stepped there although nobody else has them.

Knows local names alone: an optimizer that leaves its function, on whatever way, may be stepped elsewhere.
"""

import re
from collections.abc import Iterator

from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.training_names import is_optimizer
from amplint.model.tree import Argument, Assign, Attribute, Call, Delete, Name, Node
from amplint.model.walks import last_name, walk

SERVED = (EventKind.UNSCALE, EventKind.ZERO)
STEPPING = (EventKind.STEP, EventKind.DIRECT_STEP, EventKind.FORGET)
OF_RATES = re.compile(r"(^|_)lr(_|$)|learning_?rate|schedul", re.IGNORECASE)
KEEPING = frozenset(
    {"zero_grad", "state_dict", "load_state_dict", "param_groups", "add_param_group", "state", "unscale_"}
)


def forgotten(reading: Reading) -> Iterator[Step]:
    """The first call that unscales or zeroes the gradients of each."""
    updates = list(reading.steps_of(EventKind.UPDATE))
    if not updates or not any(reading.steps_of(EventKind.SCALE)):
        return
    for place in reading.roles.optimizers:
        is_stepped = any(
            happening.optimizers is None or place in happening.optimizers
            for step in reading.steps_of(*STEPPING)
            for happening in reading.events.of(step)
            if happening.kind in STEPPING
        )
        sites = [step for step in reading.steps_of(*SERVED) if _is_about(reading, step, place)]
        if sites and not is_stepped and _is_kept_in(reading, place):
            yield min(sites, key=lambda step: (_is_zero(reading, step), step.node.span))


def _is_kept_in(reading: Reading, place: Term) -> bool:
    """Whether a function makes an optimizer and keeps it to itself."""
    function: Node
    match place:
        case ("name", str(name), int(frame)):
            home, function = reading.scene.homes[frame], reading.scene.frames[frame].function
        case ("name", str(name), "") if not any(reading.scene.facts.context.importers.naming({name})):
            home, function = reading.scene.facts, reading.scene.facts.module
        case _:
            return False
    bindings = home.names.bindings(function).get(name, ())
    value = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(value, Call) or not any(map(is_optimizer, home.names.meaning(value.func).names)):
        return False
    uses = [node for node in walk(function) if isinstance(node, Name) and node.id == name]
    return all(_is_kept(home.index.parents, node) for node in uses)


def _is_kept(parents: dict[Node, Node], use: Name) -> bool:
    around = parents.get(use)
    if isinstance(around, Attribute):
        return around.attr in KEEPING
    call = parents.get(around) if isinstance(around, Argument) else None
    if isinstance(call, Call):
        last = last_name(call.func)
        return last in KEEPING or last.endswith("LR") or bool(OF_RATES.search(last))
    return isinstance(around, Assign | Delete) and use in around.targets


def _is_about(reading: Reading, step: Step, place: Term) -> bool:
    return any(happening.optimizers == (place,) for happening in reading.events.of(step))


def _is_zero(reading: Reading, step: Step) -> bool:
    return all(happening.kind is EventKind.ZERO for happening in reading.events.of(step))
