"""One thing that a step of a scene does to a scaler, to optimizers or to gradients; knows no path and no state."""

from msgspec.structs import replace

from amplint.facts.protocol.gradients import Handling
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Value
from amplint.model.tree import Expr


class Happening(Value):
    """One event of a step. loss: the expression that runs backward, where that is what happens.

    optimizers of None: nobody can tell whose gradients. kind is None for a backward whose loss decides.
    """

    kind: EventKind | None
    scaler: Term | None = None
    optimizers: tuple[Term, ...] | None = None
    loss: Expr | None = None
    handling: Handling | None = None

    def without_scaler(self) -> "Happening":
        """What the call does where its scaler is disabled."""
        kind = EventKind.DIRECT_STEP if self.kind is EventKind.STEP else EventKind.SCALE
        return replace(self, kind=kind, scaler=None)
