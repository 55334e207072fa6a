"""Which other steps a step stands beside: in its function, under more conditions, at the end of a group.

Knows the order and the guards of steps; what goes wrong between them is for `defects.py`.
"""

from msgspec.structs import replace

from amplint.facts.protocol.guards import common_loop, loop_around
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind, Reason
from amplint.knowledge.state import Error


def beside(reading: Reading, site: Step, *kinds: EventKind | None) -> list[Step]:
    """The steps with events of some kinds in the same frame, in source order."""
    steps = (step for step in reading.steps_of(*kinds) if step.frame == site.frame)
    return sorted(steps, key=lambda step: step.node.span)


def follows(reading: Reading, first: Step, later: Step) -> bool:
    """Whether one step stands behind another in the same block, so that nothing decides between them."""
    index = reading.scene.homes[first.frame].index
    is_after = first.frame == later.frame and first.node.span < later.node.span
    return is_after and index.block(index.statement(first.node)) == index.block(index.statement(later.node))


def stepped_around(reading: Reading, update: Step, error: Error) -> tuple[Step, Error] | None:
    """The step without a scaler between the last scaled loss above an update and the update, under the same tests.

    With the error that it is, of the update's that finds no record.
    """
    above = [step for step in beside(reading, update, *EventKind, None) if step.node.span < update.node.span]
    kinds = [{happening.kind for happening in reading.events.of(step)} for step in above]
    scaled = max((at for at, found in enumerate(kinds) if EventKind.SCALE in found), default=None)
    if scaled is None or sum(None in found for found in kinds[scaled:]) != 1:
        return None
    answers = reading.guards.answers
    direct = [
        step for step, found in zip(above[scaled:], kinds[scaled:], strict=True) if EventKind.DIRECT_STEP in found
    ]
    if len(direct) != 1 or answers(direct[0]) != answers(update):
        return None
    optimizers = next(h.optimizers for h in reading.events.of(direct[0]) if h.kind is EventKind.DIRECT_STEP)
    return direct[0], replace(error, reason=Reason.STEP_AROUND, site=direct[0], optimizer=(optimizers or (None,))[0])


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
