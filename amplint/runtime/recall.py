"""Steps of the protocol's automaton, worked out once each: a loop takes the same few again and again.

Knows that `advance` is a function of state and event alone; knows no state and no event.
"""

from collections.abc import Hashable

from amplint.knowledge.automaton import advance
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.state import Error, Event, State

_MOST = 2_000
"""States kept. A program that reaches more does not repeat itself."""

Outcome = tuple[State, tuple[Error, ...]]


class Recall:
    """`advance` with a memory. Equal states become one object, so that the newest is known by identity, unhashed."""

    def __init__(self) -> None:
        self._states: dict[State, State] = {}
        self._outcomes: dict[tuple[int, EventKind, Hashable, Hashable, tuple[int, ...] | None], Outcome] = {}
        self._newest = State()

    def advance(
        self,
        state: State,
        kind: EventKind,
        site: Hashable,
        scaler: Hashable = None,
        optimizers: tuple[int, ...] | None = None,
    ) -> Outcome:
        """The state after an event that surely happened, and what was wrong with it."""
        if state is not self._newest:
            self._newest = self._states.setdefault(state, state)
        key = (id(self._newest), kind, site, scaler, optimizers)
        outcome = self._outcomes.get(key)
        if outcome is None:
            if len(self._states) > _MOST:
                self._outcomes.clear()
                self._states = {self._newest: self._newest}
            after, errors = advance(self._newest, Event(kind, site, scaler, optimizers))
            outcome = self._outcomes[key] = self._states.setdefault(after, after), errors
        self._newest = outcome[0]
        return outcome
