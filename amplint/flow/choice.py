"""Which questions of a graph are worth an answer: those that decide what runs and are asked twice, once in a loop.

Knows how often and where a question is asked; what an answer leads to is for `conditions.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property

from msgspec import Struct, field

from amplint.flow.consistency import excludes
from amplint.flow.formulas import Atom, Formula, atoms
from amplint.flow.graph import Graph, Step
from amplint.flow.influence import Influence, Return, coming_again
from amplint.flow.terms import Term, contains, parts
from amplint.flow.writes import Write

# How many flags may be computed one from the other.
LONGEST_CHAIN = 3
Replaced = Callable[[Atom, Term, Term], Formula]


class Choice(Struct, dict=True):
    """formulas tells what each edge asks, by its identity."""

    graph: Graph
    formulas: Mapping[int, Formula]
    writes: Mapping[Step, tuple[Write, ...]]
    _counts: "Counter[Atom]" = field(default_factory=Counter)
    # Where a question is asked: it counts once more if control comes back there before it has another answer.
    _turns: list[tuple[Atom, Return]] = field(default_factory=list)
    _parts: dict[Atom, frozenset[Term]] = field(default_factory=dict)
    _changing: dict[Atom, frozenset[int]] = field(default_factory=dict)

    def best(self, is_relevant: Callable[[Step], bool], most: int, replaced: Replaced) -> tuple[Atom, ...]:
        """The questions that are nearest to a relevant step, and of those the most asked.

        A question is near where a relevant step hangs on it and on nothing between; what decides a flag that such a
        question asks, or whether it is set, comes next. replaced tells what a question is after an assignment to a
        place.
        """
        near: set[Atom] = set()
        influence = Influence(self.graph)
        deciding = influence.deciding(is_relevant)
        for number, is_near in deciding.items():
            for atom in self._asked_by(number):
                self._count(atom, number)
                near.update((atom,) if is_near else ())
        flags = {term for atom in near for term in self.read(atom)}
        sources: set[Atom] = set()
        for number in influence.deciding(lambda step: any(p in flags and new for p, new in self.writes[step])):
            for atom in self._asked_by(number) if number not in deciding else ():
                self._count(atom, number)
                sources.add(atom)
        sources |= self._count_flags(replaced, near)
        again = coming_again(self.graph, (turn for _, turn in self._turns))
        for atom, turn in self._turns:
            self._counts[atom] += turn in again
        counts = self._counts
        asked = [atom for atom in counts if counts[atom] + self._related(atom) > 1]
        return tuple(sorted(asked, key=lambda atom: (atom not in near, atom not in sources, -counts[atom]))[:most])

    def _asked_by(self, number: int) -> Iterable[Atom]:
        """The questions that a block asks at its end."""
        edges = self.graph.blocks[number].edges
        return dict.fromkeys(atom for edge in edges for atom in atoms(self.formulas[id(edge)]))

    def read(self, atom: Atom) -> frozenset[Term]:
        """The terms that a question is made of: its answer depends on what stands at those of them that are places."""
        if atom not in self._parts:
            self._parts[atom] = frozenset((*parts(atom.left), *parts(atom.right)))
        return self._parts[atom]

    def _count(self, atom: Atom, number: int) -> None:
        """A question is asked in a block."""
        self._counts[atom] += 1
        if atom not in self._changing:
            nowhere: frozenset[int] = frozenset()
            self._changing[atom] = nowhere.union(*(self._written.get(term, nowhere) for term in self.read(atom)))
        self._turns.append((atom, (number, self._changing[atom])))

    def _related(self, atom: Atom) -> int:
        """How often a question is asked whose answer may tell the answer to another."""
        return sum(self._counts[other] for other in self._alike[atom.left] if excludes(atom, other))

    @cached_property
    def _alike(self) -> dict[Term, list[Atom]]:
        """The questions about each thing."""
        found: dict[Term, list[Atom]] = {}
        for atom in self._counts:
            found.setdefault(atom.left, []).append(atom)
        return found

    @cached_property
    def _written(self) -> dict[Term, set[int]]:
        """The blocks that assign each place."""
        found: dict[Term, set[int]] = {}
        for number, _, step in self.graph.steps():
            for place, _ in self.writes[step]:
                found.setdefault(place, set()).add(number)
        return found

    def _count_flags(self, replaced: Replaced, near: Set[Atom]) -> Set[Atom]:
        """A question that decides the value of a flag is asked again where the flag is asked, and by each turn.

        Gives those that decide a flag which some near question asks.
        """
        sources: set[Atom] = set()
        counts = self._counts
        changes: dict[Term, list[tuple[Term, int]]] = {}
        for number, _, step in self.graph.steps():
            for place, new in self.writes[step]:
                if new is not None:
                    changes.setdefault(place, []).append((new, number))
        pending = list(counts)
        for _ in range(LONGEST_CHAIN):
            further: list[Atom] = []
            concerned = [(a, p, *change) for a in pending for p in self.read(a) for change in changes.get(p, ())]
            for atom, place, new, number in concerned:
                formula = replaced(atom, place, new)
                inner = dict.fromkeys(atoms(formula))
                if contains(new, place) and not any(a in counts for a in inner):
                    continue  # a counter counts on: each turn would ask another question
                counts[atom] += formula is not None
                further.extend(a for a in inner if a not in counts)
                sources.update(inner if atom in near or atom in sources else ())
                for question in inner:
                    self._count(question, number)
            pending = further
        return sources
