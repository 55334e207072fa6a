"""Names that stand for something that never changes: `mixed = self.config.mixed`, `clips = limit is not None`.

Knows the assignments of one graph; a name of which more than one is made, or whose value may change, is left alone.
"""

from collections.abc import Iterator, Mapping

from amplint.flow.formulas import calls_out
from amplint.flow.graph import Graph, Step, StepKind
from amplint.flow.terms import OPAQUE, Term, Terms, contains, parts
from amplint.flow.writes import Write

# How long a chain of such names is followed, and how large the term of one may become.
LONGEST_CHAIN = 3
LARGEST = 60


class Aliases:
    """What the names of a graph stand for that are assigned once, to what no step of the graph assigns."""

    def __init__(self, graph: Graph, terms: Terms, writes: Mapping[Step, tuple[Write, ...]]) -> None:
        given = _given(writes)
        self._known: dict[Term, Term] = {}
        pending = {place: value for place, value in _once(given, terms) if _is_told(value, place)}
        for _ in range(LONGEST_CHAIN):
            found = {place: value for place, value in pending.items() if self._stays(value, given)}
            self._known |= {place: self._resolved(value) for place, value in found.items()}
            pending = {place: value for place, value in pending.items() if place not in found}
        self._known = {place: value for place, value in self._known.items() if sum(1 for _ in parts(value)) <= LARGEST}

    def _stays(self, value: Term, given: Mapping[Term, object]) -> bool:
        """Whether a value is made of nothing that a step assigns, but of names that stand for something."""
        return all(part in self._known for part in parts(value) if part in given)

    def resolved(self, term: Term) -> Term:
        """The term with each name that stands for something replaced by that."""
        return self._resolved(term) if self._known else term

    def _resolved(self, term: Term) -> Term:
        if _is_name(term):
            return self._known.get(term, term)
        return tuple(self._resolved(piece) if isinstance(piece, tuple) else piece for piece in term)

    def of(self, changes: tuple[Write, ...]) -> tuple[Write, ...]:
        """Some assignments, without those of the names that stand for something."""
        if not self._known:
            return changes
        return tuple(
            (self._resolved(place), None if new is None else self._resolved(new))
            for place, new in changes
            if place not in self._known
        )


def _given(writes: Mapping[Step, tuple[Write, ...]]) -> dict[Term, set[Term | None]]:
    """What each place is assigned; where a call begins, its locals have no value yet."""
    given: dict[Term, set[Term | None]] = {}
    for step, changes in writes.items():
        for place, new in changes:
            if step.kind is not StepKind.OPEN or new is not None:
                given.setdefault(place, set()).add(new)
    return given


def _once(given: Mapping[Term, set[Term | None]], terms: Terms) -> Iterator[tuple[Term, Term]]:
    """The locals that are bound in one place, each with its value."""
    for place, values in given.items():
        if len(values) == 1 and place[0] == "name" and isinstance(place[2], int):
            (value,) = values
            if value is not None and terms.times_bound(str(place[1]), place[2]) == 1:
                yield place, value


def _is_told(value: Term, place: Term) -> bool:
    """Whether a value is made of names that the frame of its place, or one around it, knows."""
    if contains(value, OPAQUE) or calls_out(value):
        return False
    frames = [part[2] for part in parts(value) if _is_name(part)]
    return bool(frames) and all(not isinstance(frame, int) or frame <= place[2] for frame in frames)  # type: ignore[operator]


def _is_name(term: Term) -> bool:
    """Whether a term is a name, and not an argument that is called `name`."""
    return term[:1] == ("name",) and len(term) == 3
