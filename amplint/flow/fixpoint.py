"""One worklist for every analysis over a graph: which states a client can be in before each step, and by which path.

Explores sets of states, never joins them; past a stated bound a block has the client's unknown state. Knows no state.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Generic, TypeVar

from amplint.flow.conditions import Answers, Questions
from amplint.flow.graph import Edge, EdgeKind, Graph, Step, StepKind
from amplint.model.tree import Expr

MOST_STATES = 64
MOST_ARRIVALS = 50_000

S = TypeVar("S")


class Client(Generic[S]):
    """What an analysis says about its states. States are hashable and compare by value."""

    unknown: S

    def step(self, step: Step, state: S, known: "Known") -> Iterable[S]:
        """The states after a step; none where the path ends there."""
        raise NotImplementedError

    def edge(self, edge: Edge, state: S) -> Iterable[S]:
        """The states after an edge; none where the path cannot take it."""
        return (state,)

    def may_raise(self, step: Step, state: S) -> bool:
        """Whether a call made in a state may raise an exception that a handler in the graph catches."""
        return True


@dataclass(frozen=True, slots=True)
class Known:
    """What a path has answered so far."""

    questions: Questions | None
    answers: Answers

    def truth(self, expr: Expr, frame: int = 0) -> bool | None:
        """Whether an expression is true on this path, where the answers so far say so."""
        return None if self.questions is None else self.questions.truth(expr, frame, self.answers)


@dataclass(frozen=True, slots=True)
class Arrival(Generic[S]):
    """A state in which a path arrives at the start of a block."""

    block: int
    answers: Answers
    state: S


@dataclass(frozen=True, slots=True)
class Place(Generic[S]):
    """A state in which a path stands before a step; index counts the steps of the arrival's block."""

    arrival: Arrival[S]
    index: int
    step: Step
    answers: Answers
    state: S


@dataclass
class Flow(Generic[S]):
    """What was found. came tells for each arrival from which other one, and by which edge, it was reached first."""

    graph: Graph
    client: Client[S]
    questions: Questions | None
    came: dict[Arrival[S], tuple[Arrival[S], Edge] | None] = field(default_factory=dict)
    bounded: set[int] = field(default_factory=set)

    def arrivals(self, block: int) -> Iterator[Arrival[S]]:
        """The states at the start of a block; those at `graph.exit` are the states after the function."""
        return (arrival for arrival in self.came if arrival.block == block)

    def places(self) -> Iterator[Place[S]]:
        """Every state before every step, in the order in which they were reached."""
        for arrival in self.came:
            yield from self._places(arrival)

    def path(self, arrival: Arrival[S], index: int = 0) -> tuple[Step | Edge, ...]:
        """The steps and edges of a shortest path to a place, from the entry on."""
        pieces: list[tuple[Step | Edge, ...]] = [self.graph.blocks[arrival.block].steps[:index]]
        here = arrival
        while (before := self.came[here]) is not None:
            here, edge = before
            pieces.append((*self.graph.blocks[here.block].steps, edge))
        return tuple(piece for part in reversed(pieces) for piece in part)

    def _places(self, arrival: Arrival[S]) -> Iterator[Place[S]]:
        states = {(arrival.answers, arrival.state): None}
        for index, step in enumerate(self.graph.blocks[arrival.block].steps):
            for answers, state in states:
                yield Place(arrival, index, step, answers, state)
            states = self.advance(step, states)

    def advance(self, step: Step, states: "_States[S]") -> "_States[S]":
        """The states after a step."""
        questions, found = self.questions, {}
        for answers, state in states:
            known = Known(questions, answers)
            following = (answers,) if questions is None else questions.after(step, answers)
            for new in self.client.step(step, state, known):
                found.update(dict.fromkeys((after, new) for after in following))
        return found


_States = dict[tuple[Answers, S], None]


def explore(
    graph: Graph,
    client: Client[S],
    starts: Iterable[S],
    questions: Questions | None = None,
    bound: int = MOST_STATES,
    given: Iterable[Answers] = (),
) -> Flow[S]:
    """Run a client over every feasible path of a graph, breadth first.

    A block with more than `bound` states gets the client's unknown state instead of further ones; so does every block,
    after the first state, once there are very many in all, so that time and memory have a bound. given: answers
    that paths may start with; without them no question has one.
    """
    flow = Flow(graph, client, questions)
    counts = [0] * len(graph.blocks)
    pending: deque[Arrival[S]] = deque()

    def arrive(arrival: Arrival[S], origin: tuple[Arrival[S], Edge] | None) -> None:
        if counts[arrival.block] >= (bound if len(flow.came) < MOST_ARRIVALS else 1):
            flow.bounded.add(arrival.block)
            arrival = Arrival(arrival.block, unanswered, client.unknown)
        if arrival not in flow.came:
            counts[arrival.block] += 1
            flow.came[arrival] = origin
            pending.append(arrival)

    unanswered = () if questions is None else questions.unanswered
    for start, answers in product(starts, tuple(given) or (unanswered,)):
        arrive(Arrival(0, answers, start), None)
    while pending:
        arrival = pending.popleft()
        for edge, answers, state in _leave(flow, arrival):
            arrive(Arrival(edge.target, answers, state), (arrival, edge))
    return flow


def _leave(flow: Flow[S], arrival: Arrival[S]) -> Iterator[tuple[Edge, Answers, S]]:
    """Every edge out of a block that a state can take, with the state that it takes there."""
    block = flow.graph.blocks[arrival.block]
    states: _States[S] = {(arrival.answers, arrival.state): None}
    thrown: _States[S] = {}
    catches = any(edge.kind is EdgeKind.EXCEPTION for edge in block.edges)
    for step in block.steps:
        if catches and step.kind is StepKind.CALL:
            thrown.update((point, None) for point in states if flow.client.may_raise(step, point[1]))
        states = flow.advance(step, states)
    for edge in block.edges:
        for answers, state in thrown if edge.kind is EdgeKind.EXCEPTION else states:
            for after in (answers,) if flow.questions is None else flow.questions.along(edge, answers):
                for new in flow.client.edge(edge, state):
                    yield edge, after, new
