"""What is true at one point of a path: the protocol's state, and which values are losses multiplied by which scale.

Knows neither expressions nor the order of events.
"""

from msgspec import field
from msgspec.structs import replace

from amplint.flow.terms import Term
from amplint.knowledge.protocol import Gradients, Stage
from amplint.knowledge.state import OptimizerState, State
from amplint.model.data import Value

# A scaler whose scale a value carries, and whether it surely does: elements of a collection may.
Share = tuple[Term, bool]
Results = frozenset[tuple[int, Share]]
IDLE = frozenset({Gradients.UNKNOWN, Gradients.CLEAN, Gradients.SPENT, Gradients.DROPPED})
UNDER_WAY = frozenset({Stage.UNSCALED, Stage.STEPPED})
NO_RESULTS: Results = frozenset()


class Standing(Value):
    """A point of a path.

    scaled: places that hold a scaled loss, with its share. results: calls whose value is one, until it is used.
    turns: collections of optimizers, each with whether the optimizer followed has had its turn in the running loop,
    and whether the current turn is its own.
    """

    protocol: State
    scaled: frozenset[tuple[Term, Share]] = frozenset()
    results: Results = frozenset()
    turns: frozenset[tuple[Term, bool, bool]] = field(default_factory=frozenset)
    is_unknown: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether no step is under way: no gradients wait for one, and no scaler remembers one."""
        # Loops and not `any`: this is asked at every call in a `try`.
        for _, optimizer in self.protocol.optimizers:
            if optimizer.gradients not in IDLE:
                return False
        for _, record in self.protocol.scalers:
            for _, stage in record.stages:
                if stage in UNDER_WAY:
                    return False
        return True

    def turn(self, place: Term) -> tuple[bool, bool] | None:
        """(has had its turn, is the current one), None outside loops over the collection."""
        return next(((had, now) for known, had, now in self.turns if known == place), None)

    def with_turn(self, place: Term, turn: tuple[bool, bool] | None) -> "Standing":
        """The same point with another turn of a collection."""
        kept = frozenset(entry for entry in self.turns if entry[0] != place)
        return replace(self, turns=kept if turn is None else kept | {(place, *turn)})


def start(optimizers: tuple[Term, ...], gradients: Gradients = Gradients.UNKNOWN) -> Standing:
    """The point before a function that nothing is known of but, perhaps, what the gradients are."""
    known = tuple(sorted(((place, OptimizerState(gradients)) for place in optimizers), key=lambda p: repr(p[0])))
    return Standing(State((), known))


def carries(protocol: State, scaler: Term) -> bool:
    """Whether some gradients carry the scale of a scaler, or did until it was divided away."""
    held = (Gradients.SCALED, Gradients.STALE, Gradients.UNSCALED)
    return any(scaler in state.scalers and state.gradients in held for _, state in protocol.optimizers)
