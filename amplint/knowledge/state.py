"""What the protocol's readers speak of: events, errors, and the state of scalers and optimizers between them.

Knows no rule of the protocol: sites and objects are opaque keys, and nothing here changes a state on its own.
"""

from collections.abc import Hashable
from typing import TypeVar

from msgspec.structs import replace

from amplint.knowledge.protocol import EventKind, Gradients, Reason, Stage
from amplint.model.data import Value

Held = TypeVar("Held")


class Event(Value, cache_hash=True):
    """Something that happens to a scaler, to optimizers, or to both, at a site.

    optimizers: those whose gradients or step it is about; None stands for every optimizer of the state.
    is_certain: it surely reaches the gradients of each of them (a backward of a recorded run; a zero_grad of this
    very optimizer); else it reaches some of them.
    """

    kind: EventKind
    site: Hashable = None
    scaler: Hashable = None
    optimizers: tuple[Hashable, ...] | None = None
    is_certain: bool = True


class Error(Value):
    """A reason, the event's site and objects, and the earlier sites that explain it.

    is_crash says that torch raises at the event, so that the state stays as it was.
    """

    reason: Reason
    site: Hashable
    scaler: Hashable
    optimizer: Hashable
    because: tuple[tuple[EventKind, Hashable], ...] = ()
    is_crash: bool = False


class OptimizerState(Value, cache_hash=True):
    """The gradients of one optimizer.

    scalers: those whose scale they carry, or carried until they were unscaled or spent. cause and cause_site say why
    they are mixed. The sites are those of the newest backward, unscale_ and step, and of the newest zero_grad that
    threw away gradients which no step had used.
    """

    gradients: Gradients = Gradients.UNKNOWN
    scalers: frozenset[Hashable] = frozenset()
    cause: Reason | None = None
    cause_site: Hashable = None
    backward_site: Hashable = None
    unscale_site: Hashable = None
    step_site: Hashable = None
    dropped_site: Hashable = None


class ScalerState(Value, cache_hash=True):
    """A scaler's record since its last update: the stage of each optimizer, and whether any inf check was recorded.

    has_record and is_set (whether a scale exists, made by the first `scale`) are None where it is not known.
    """

    stages: tuple[tuple[Hashable, Stage], ...] = ()
    other_stages: Stage = Stage.UNKNOWN
    has_record: bool | None = None
    is_set: bool | None = None
    update_site: Hashable = None

    def stage(self, optimizer: Hashable) -> Stage:
        """The stage of an optimizer."""
        return _get(self.stages, optimizer, self.other_stages)

    def with_stage(self, optimizer: Hashable, stage: Stage) -> "ScalerState":
        """The same record with another stage for one optimizer."""
        kept = tuple(pair for pair in self.stages if pair[0] != optimizer)
        return replace(self, stages=tuple(sorted((*kept, (optimizer, stage)), key=repr)))


UNSEEN_SCALER = ScalerState()
UNSEEN_OPTIMIZER = OptimizerState()
NEW_SCALER = ScalerState(other_stages=Stage.READY, has_record=False, is_set=False)
NEW_OPTIMIZER = OptimizerState(gradients=Gradients.CLEAN)


class State(Value, cache_hash=True):
    """Scalers and optimizers by key, in an order that does not matter."""

    scalers: tuple[tuple[Hashable, ScalerState], ...] = ()
    optimizers: tuple[tuple[Hashable, OptimizerState], ...] = ()

    def scaler(self, key: Hashable) -> ScalerState:
        """The state of a scaler; nothing is known of one that was not seen before."""
        return _get(self.scalers, key, UNSEEN_SCALER)

    def optimizer(self, key: Hashable) -> OptimizerState:
        """The state of an optimizer; nothing is known of one that was not seen before."""
        return _get(self.optimizers, key, UNSEEN_OPTIMIZER)

    def with_scaler(self, key: Hashable, value: ScalerState) -> "State":
        """The same state with another record for one scaler."""
        return State(_put(self.scalers, key, value), self.optimizers)

    def with_optimizer(self, key: Hashable, value: OptimizerState) -> "State":
        """The same state with other gradients for one optimizer."""
        return State(self.scalers, _put(self.optimizers, key, value))


def _get(pairs: tuple[tuple[Hashable, Held], ...], key: Hashable, otherwise: Held) -> Held:
    # There are one or two of them: a dict would take longer to build.
    for known, value in pairs:
        if known == key:
            return value
    return otherwise


def _put(pairs: tuple[tuple[Hashable, Held], ...], key: Hashable, value: Held) -> tuple[tuple[Hashable, Held], ...]:
    for at, (known, _) in enumerate(pairs):
        if known == key:
            return (*pairs[:at], (key, value), *pairs[at + 1 :])
    return tuple(sorted((*pairs, (key, value)), key=lambda pair: repr(pair[0])))
