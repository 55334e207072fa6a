"""Which other steps a step stands beside: in its function, under more conditions, at the end of a group.

Knows the order and the guards of steps; what goes wrong between them is for `defects.py`.
"""

from msgspec.structs import replace

from amplint.facts.protocol.guards import common_loop, loop_around
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind


def beside(reading: Reading, site: Step, *kinds: EventKind) -> list[Step]:
    """The steps with events of some kinds in the same frame, in source order."""
    steps = (step for step in reading.steps_of(*kinds) if step.frame == site.frame)
    return sorted(steps, key=lambda step: step.node.span)


def follows(reading: Reading, first: Step, later: Step) -> bool:
    """Whether one step stands behind another in the same block, so that nothing decides between them."""
    index = reading.scene.homes[first.frame].index
    is_after = first.frame == later.frame and first.node.span < later.node.span
    return is_after and index.block(index.statement(first.node)) == index.block(index.statement(later.node))


def next_unscale(reading: Reading, site: Step) -> Step | None:
    """The next step in the same function, which unscales too late."""
    steps = beside(reading, site, EventKind.STEP, EventKind.UNSCALE)
    return next((step for step in steps if step.node.span > site.node.span), None)


def guarded_step(reading: Reading, unscale: Step) -> Step | None:
    """A step of the scaler under a condition that the unscale_ is not under."""
    own = reading.guards.answers(unscale)
    around = loop_around(reading.scene, unscale)
    for step in reading.steps_of(EventKind.STEP):
        if around is not None and common_loop(reading.scene, unscale, step) is not around:
            continue  # not skipped: the loop goes on without it
        if not reading.guards.answers(step) <= own:
            return step
    return None


def is_boundary_missing(reading: Reading, step: Step) -> bool:
    """Whether the optimizer steps at group boundaries only, and this step does not wait for them.

    What stands behind the loop of the micro-batches serves the tail, and waits for nothing.
    """
    own = {id(guard.test) for guard, _ in reading.guards.boundaries(step)}
    around = loop_around(reading.scene, step)
    scalers = {happening.scaler for happening in reading.events.of(step)}
    for other in reading.steps_of(EventKind.STEP):
        if scalers.isdisjoint(happening.scaler for happening in reading.events.of(other)):
            continue
        if around is None or common_loop(reading.scene, step, other) is not around:
            continue
        asked = [guard for guard, _ in reading.guards.boundaries(other)]
        is_here = any(loop_around(reading.scene, replace(step, node=g.test, frame=g.frame)) is around for g in asked)
        if is_here and not any(id(guard.test) in own for guard in asked):
            return True
    return False
