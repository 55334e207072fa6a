"""Whether a clip surely stands in a wrong place, although the backward pass may be out of sight.

Knows what stands between a step and a clip; refuses to judge where something there may run a backward.
"""

from amplint.facts.protocol.beside import follows
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind

BACKWARDS = (EventKind.SCALED_BACKWARD, EventKind.PLAIN_BACKWARD)


def is_told_of_backwards(reading: Reading, clip: Step, because: tuple[tuple[EventKind, Step], ...]) -> bool:
    """Whether no backward can run before a clip that is not in sight.

    Where none is in sight at all, a method that is overridden may run it: but not right behind the step.
    """
    if any(reading.steps_of(None, *BACKWARDS)):
        return True
    steps = [step for kind, step in because if kind is EventKind.STEP]
    return bool(steps) and follows(reading, steps[-1], clip) and not _is_left_to_others(reading, steps[-1], clip)


def _is_left_to_others(reading: Reading, first: Step, later: Step) -> bool:
    """Whether something runs between two steps that does nothing with gradients here, and may do more in a subclass."""
    between = (step for step, _ in reading.scene.calls if step.frame == first.frame)
    return any(
        first.node.span < step.node.span < later.node.span
        and (id(step.node), step.frame) in reading.scene.callees.harmless
        for step in between
    )
