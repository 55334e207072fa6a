"""Gradients that every turn of a loop over micro-batches zeroes, where the step stands behind the loop.

Knows loops that go through micro-batches; a step that waits for a test inside the loop is the protocol's.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.accumulation.groups import Group
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.guards import ways_up
from amplint.flow.graph import Step
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def zeroed_turns(facts: "Facts") -> Iterator[Defect]:
    """Each such zero_grad, once."""
    seen: set[int] = set()
    for group in facts.accumulation.groups:
        for zero, step in group.reading.reader.dropped if group.guard is None else ():
            if step == group.step and id(zero.node) not in seen and _is_in_every_turn(group, zero):
                seen.add(id(zero.node))
                yield Defect(DefectKind.MICRO_ZERO, group.reading, zero, None, (), step)


def _is_in_every_turn(group: Group, zero: Step) -> bool:
    """Whether a zero_grad stands in the loop of a group, under no condition that its backward is not under."""
    inside = {id(node) for node in walk(group.loop)}
    own = {id(guard.test) for guard in group.reading.guards.of(group.backward)}
    is_inside = any(id(way.node) in inside for way in ways_up(group.reading.scene, zero))
    return is_inside and all(id(guard.test) in own for guard in group.reading.guards.of(zero))
