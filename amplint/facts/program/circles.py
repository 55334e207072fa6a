"""Answers that may hang on each other in circles: none of a circle is known, whichever was asked for first.

Knows no question. A guess for the one that is being worked out would do for it alone: what the others made of the guess
would stay, so that answers would hang on what ran before.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")


class Circles:
    """Questions that are being worked out, by Tarjan's search for strongly connected components.

    A question that leads to itself alone is answered without what it would have said to itself.
    """

    def __init__(self) -> None:
        # What is begun, with the answers that it belongs to; and for what is not done yet, how far back it leads.
        self._begun: list[tuple[dict[Hashable, object], Hashable]] = []
        self._places: dict[Hashable, int] = {}
        self._back: list[int] = []

    def answer(self, known: dict[Q, A | None], question: Q, work_out: Callable[[Q], A | None]) -> A | None:
        """The answer to a question, from those that are known or worked out now; None where it is one of a circle."""
        if question in known:
            return known[question]
        if question in self._places:
            self._back[-1] = min(self._back[-1], self._places[question])
            return None
        place = self._places[question] = len(self._begun)
        self._begun.append((known, question))  # type: ignore[arg-type]  # answers of all kinds together
        self._back.append(place)
        try:
            found = work_out(question)
        except BaseException:
            self._back.pop()
            self._end(place)
            raise
        back = self._back.pop()
        if back < place:
            self._back[-1] = min(self._back[-1], back)
            return None
        members = self._end(place)
        for answers, member in members:
            answers[member] = found if len(members) == 1 else None
        return known[question]

    def _end(self, place: int) -> list[tuple[dict[Hashable, object], Hashable]]:
        """Take away what was begun from a place on."""
        members = self._begun[place:]
        del self._begun[place:]
        for _, member in members:
            del self._places[member]
        return members
