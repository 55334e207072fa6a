"""Which events of the protocol a happening is at a point of a path: whether a backward is of a scaled loss, for one.

Knows what a step does there; what becomes of the gradients is the automaton's.
"""

from collections.abc import Iterator

from amplint.facts.protocol.call_shapes import is_left_gradient
from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.loss_owners import owner_of_loss
from amplint.facts.protocol.losses import Losses, Scalers
from amplint.facts.protocol.owners import Owners
from amplint.facts.protocol.standing import Standing
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind, Gradients
from amplint.knowledge.state import Event
from amplint.model.tree import Expr

Owned = tuple[Term, ...] | None
OF_A_SCALER = frozenset({EventKind.CREATE, EventKind.SCALE, EventKind.UPDATE, EventKind.SET_SCALE})


class Meaning:
    """The events of a scene's happenings. sole: the optimizer that every event is about, where there is one alone."""

    def __init__(self, losses: Losses, owners: Owners, optimizers: tuple[Term, ...], sole: Term | None) -> None:
        self.losses = losses
        self.owners = owners
        self.optimizers = optimizers
        self.sole = sole
        # Most events are the same at every point, and then they are one object: comparing them costs nothing.
        self._plain: dict[tuple[int, Step], tuple[Happening, tuple[Event, ...]]] = {}
        self._backwards: dict[tuple[Step, Scalers, frozenset[Term]], Event] = {}
        self._owned: dict[Step, Term | None] = {}

    def events(self, happening: Happening, step: Step, here: Standing) -> tuple[Event, ...]:
        """The events of a happening."""
        if happening.kind is None:
            assert happening.loss is not None
            event = self._backward(happening.loss, happening.optimizers, step, here)
            is_scaled = event.kind is EventKind.SCALED_BACKWARD
            return (*self._strangers(step, here), event) if is_scaled else (event,)
        key = id(happening), step
        if key not in self._plain:
            self._plain[key] = happening, tuple(self._anywhere(happening, happening.kind, step))
        return self._plain[key][1]

    def _anywhere(self, happening: Happening, kind: EventKind, step: Step) -> Iterator[Event]:
        """The events of what is no backward."""
        if kind in OF_A_SCALER or (kind is EventKind.FORGET and happening.scaler is not None):
            if happening.scaler is not None:
                yield Event(kind, step, happening.scaler)
            return
        optimizers = happening.optimizers
        if optimizers is None and (self.sole is not None or kind is EventKind.FORGET):
            optimizers = self.optimizers
        yield Event(kind, step, happening.scaler, optimizers, optimizers is not None)

    def _strangers(self, step: Step, here: Standing) -> Iterator[Event]:
        """Forget plain backwards of other functions: those may be for gradients of inputs, not of parameters."""
        for key, optimizer in here.protocol.optimizers:
            site = optimizer.backward_site
            if optimizer.gradients is Gradients.PLAIN and isinstance(site, Step) and site.frame != step.frame:
                yield Event(EventKind.FORGET, step, None, (key,))

    def _backward(self, loss: Expr, optimizers: Owned, step: Step, here: Standing) -> Event:
        if is_left_gradient(loss):
            return self._handed_back(step, here)
        plain = self._plain_of_others(loss, step, here)
        key = step, self.losses.scalers(loss, step.frame, here), plain
        if key not in self._backwards:
            kept = optimizers if not plain else tuple(place for place in self.optimizers if place not in plain)
            self._backwards[key] = self._backward_of(key[1], loss, kept, step)
        return self._backwards[key]

    def _owner(self, loss: Expr, step: Step) -> Term | None:
        if step not in self._owned:
            owners = self.owners
            self._owned[step] = owner_of_loss(owners.scene, owners.roles, loss, step.frame)
        return self._owned[step]

    def _plain_of_others(self, loss: Expr, step: Step, here: Standing) -> frozenset[Term]:
        """The optimizers with gradients of an unscaled loss, to which the loss of another one adds nothing."""
        owner = self._owner(loss, step) if self.sole is None else None
        if owner is None:
            return frozenset()
        held = dict(here.protocol.optimizers)
        others = (place for place in self.optimizers if place != owner and place in held)
        return frozenset(place for place in others if held[place].gradients is Gradients.PLAIN)

    def _handed_back(self, step: Step, here: Standing) -> Event:
        """A backward of gradients that the one before it left: they are what all gradients are then."""
        met = {(optimizer.gradients, optimizer.scalers) for _, optimizer in here.protocol.optimizers}
        gradients, scalers = met.pop() if len(met) == 1 else (Gradients.UNKNOWN, frozenset())
        if gradients is Gradients.SCALED and len(scalers) == 1:
            return Event(EventKind.SCALED_BACKWARD, step, next(iter(scalers)), None, self.sole is not None)
        if gradients is Gradients.PLAIN:
            return Event(EventKind.PLAIN_BACKWARD, step, None, None, self.sole is not None)
        return Event(EventKind.FORGET, step, None, self.optimizers)

    def _backward_of(self, scalers: Scalers, loss: Expr, optimizers: Owned, step: Step) -> Event:
        is_certain = self.sole is not None
        if len(scalers) == 1:
            (scaler,) = scalers
            served = optimizers or self.owners.paired(scaler) or self.owners.handed(step.frame) or None
            owner = self._owner(loss, step) if served and not optimizers else None
            if owner is not None:
                served, is_certain = (owner,), True
            return Event(EventKind.SCALED_BACKWARD, step, scaler, served, is_certain)
        if scalers or not self.losses.is_plain(loss, step.frame):
            return Event(EventKind.FORGET, step, None, self.optimizers)
        owner = self._owner(loss, step) if self.sole is None else None
        if owner is not None:
            return Event(EventKind.PLAIN_BACKWARD, step, None, (owner,), True)
        return Event(EventKind.PLAIN_BACKWARD, step, None, None, is_certain)
