"""Defects at which no call fails and no gradient is of the wrong scale, so that no path tells of them.

Knows the order and the guards of steps, and what the reader met on its way.
"""

from collections.abc import Iterator

from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.guards import common_loop, loop_around
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind


def unnoticed(reading: Reading) -> Iterator[Defect]:
    """All such defects of a reading."""
    yield from _dropped(reading)
    yield from _beside_chosen(reading)
    yield from _scaled_twice(reading)


def _dropped(reading: Reading) -> Iterator[Defect]:
    """zero_grad of every micro-batch where the optimizer steps at group boundaries."""
    for zero, step in reading.reader.dropped:
        own = {id(guard.test) for guard, _ in reading.guards.boundaries(zero)}
        asked = [guard for guard, _ in reading.guards.boundaries(step)]
        if asked and not any(id(guard.test) in own for guard in asked):
            # A zero_grad in an outer loop, once an epoch, only drops what the last group left over.
            loop = common_loop(reading.scene, zero, step)
            counted = {id(loop_around(reading.scene, Step(step.kind, guard.test, guard.frame))) for guard in asked}
            # Under a condition of its own it gives up a batch on purpose.
            is_usual = reading.guards.answers(zero) <= reading.guards.answers(step)
            if loop is not None and id(loop) in counted and is_usual:
                yield Defect(DefectKind.MICRO_ZERO, reading, zero, None, (), step)


def _beside_chosen(reading: Reading) -> Iterator[Defect]:
    """An update in every turn of a loop that steps those optimizers alone whose group is complete."""
    guards = reading.guards
    for update in reading.steps_of(EventKind.UPDATE):
        if any(guard.frame == update.frame for guard in guards.of(update)):
            continue
        for step in reading.steps_of(EventKind.STEP):
            chosen = any(guards.is_choice(guard) for guard, _ in guards.boundaries(step))
            if chosen and common_loop(reading.scene, update, step) is not None:
                yield Defect(DefectKind.MICRO_UPDATE, reading, update, None, (), step)
                break


def _scaled_twice(reading: Reading) -> Iterator[Defect]:
    """A call of scale for what carries that scale already."""
    for site, met in reading.reader.scaled_before.items():
        if True in met and not reading.considers_scale(site):
            scaler = next(h.scaler for h in reading.events.of(site) if h.kind is EventKind.SCALE)
            others = [step for step in reading.steps_of(EventKind.SCALE, scaler=scaler) if step != site]
            because = ((EventKind.SCALE, others[0]),) if len(others) == 1 else ()
            yield Defect(DefectKind.SCALED_TWICE, reading, site, None, because)
