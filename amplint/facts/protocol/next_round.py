"""Methods that train one batch with the scaler of their object: what a round leaves behind, the next call meets.

Knows methods whose rounds are whole, so that nobody in sight ends one for them; refuses to judge any other root.
"""

from msgspec.structs import replace

from amplint.facts.protocol.elsewhere import is_done_elsewhere
from amplint.facts.protocol.guards import loop_around
from amplint.facts.protocol.left_out import is_in_other_hands, is_own
from amplint.facts.protocol.reader import Misstep, Reader
from amplint.facts.protocol.readings import MOST_STATES, Reading
from amplint.facts.protocol.standing import NO_RESULTS, UNDER_WAY, Standing
from amplint.flow.fixpoint import explore
from amplint.flow.slim import slim
from amplint.knowledge.protocol import EventKind, Reason
from amplint.model.tree import FunctionDef

# Of the errors of a second round only these say that the first one was not ended.
LEFT_OPEN = frozenset({Reason.UNSCALE_TWICE, Reason.UNSCALE_AFTER_STEP, Reason.NO_UPDATE})
ROUND = (EventKind.SCALE, EventKind.STEP)
MOST_STARTS = 16


def met_by_next_round(reading: Reading) -> tuple[Misstep, ...]:
    """The errors that a second call of the root meets, and the first one does not."""
    if not _is_whole(reading):
        return ()
    first = Reader(reading.scene, reading.roles, reading.events)
    graph = slim(reading.questions, first.is_concerned, first.is_decided_by)
    switches = [switch for scaler in reading.roles.scalers for switch in first.switches(scaler)]
    given = reading.questions.either_way(switches)
    flow = explore(graph, first, [first.begin], reading.questions, MOST_STATES, given)
    ends = dict.fromkeys(_without_locals(arrival.state) for arrival in flow.arrivals(graph.exit))
    starts = [state for state in ends if _is_open(state)][:MOST_STARTS]
    if not starts or flow.bounded:
        return ()
    second = Reader(reading.scene, reading.roles, reading.events)
    explore(graph, second, starts, reading.questions, MOST_STATES, given)
    known = {(misstep.error.reason, misstep.error.site) for misstep in reading.missteps}
    return tuple(
        misstep
        for misstep in second.surely
        if misstep.error.reason in LEFT_OPEN and (misstep.error.reason, misstep.error.site) not in known
    )


def _is_whole(reading: Reading) -> bool:
    """Whether the root is a method that trains one batch from the scaling of the loss to the update."""
    if not isinstance(reading.root.function, FunctionDef) or not reading.scene.facts.context.is_complete:
        return False
    is_attribute = all(place[:2] == ("attr", ("name", "self", 0)) for place in reading.roles.optimizers)
    scalers = list(reading.roles.scalers)
    if not scalers or not is_attribute or not all(is_own(reading, scaler) for scaler in scalers):
        return False
    steps = [step for scaler in scalers for step in reading.steps_of(EventKind.STEP, scaler=scaler)]
    if any(loop_around(reading.scene, step) is not None for step in steps):
        return False
    return all(any(reading.steps_of(kind, scaler=scaler)) for kind in ROUND for scaler in scalers) and not any(
        is_in_other_hands(reading, scaler) or is_done_elsewhere(reading, scaler, method)
        for scaler in scalers
        for method in ("scale", "unscale_", "step", "update")
    )


def _without_locals(state: Standing) -> Standing:
    return replace(state, scaled=frozenset(), results=NO_RESULTS, turns=frozenset())


def _is_open(state: Standing) -> bool:
    """Whether a scaler remembers gradients that it unscaled, or a step, since its last update."""
    return any(stage in UNDER_WAY for _, record in state.protocol.scalers for _, stage in record.stages)
