"""One worklist for every analysis over a graph: which states a client can be in before each step, and by which path.

Explores sets of states, never joins them; past a stated bound a block has the client's unknown state. Knows no state.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Generic

from msgspec import Struct, field

from amplint.flow.client import Client, S
from amplint.flow.conditions import Answers, Questions
from amplint.flow.graph import Edge, Graph, Step
from amplint.flow.passage import Passage, Point
from amplint.model.data import Value

MOST_STATES = 64
MOST_ARRIVALS = 20_000

# A block, and a point at its start.
Spot = tuple[int, Point]


class Arrival(Value, Generic[S]):
    """A state in which a path arrives at the start of a block."""

    block: int
    answers: Answers
    state: S


class Place(Value, Generic[S]):
    """A state in which a path stands before a step; index counts the steps of the arrival's block."""

    arrival: Arrival[S]
    index: int
    step: Step
    answers: Answers
    state: S


class Flow(Struct, Generic[S], dict=True):
    """What was found. origins tells for each spot from which other one, and by which edge, it was reached first.

    In bounded blocks a part of the states is one unknown state; is_given_up says that there were too many in all.
    """

    passage: Passage[S]
    origins: dict[Spot, tuple[Spot, Edge] | None] = field(default_factory=dict)
    bounded: set[int] = field(default_factory=set)

    @property
    def is_given_up(self) -> bool:
        """Whether most of the graph may have been gone through in the unknown state only."""
        return bool(self.bounded) and len(self.origins) > MOST_ARRIVALS

    @cached_property
    def came(self) -> dict[Arrival[S], Spot]:
        """The states in which blocks were reached, in the order in which they were."""
        return {Arrival(spot[0], *self._values(spot[1])): spot for spot in self.origins}

    def arrivals(self, block: int) -> Iterator[Arrival[S]]:
        """The states at the start of a block; those at `graph.exit` are the states after the function."""
        return (arrival for arrival in self.came if arrival.block == block)

    def places(self) -> Iterator[Place[S]]:
        """Every state before every step, in the order in which they were reached."""
        for arrival, spot in self.came.items():
            for index, step, points in self.passage.through(*spot):
                for point in points:
                    yield Place(arrival, index, step, *self._values(point))

    def path(self, arrival: Arrival[S], index: int = 0) -> tuple[Step | Edge, ...]:
        """The steps and edges of a shortest path to a place, from the entry on."""
        blocks = self.passage.graph.blocks
        pieces: list[tuple[Step | Edge, ...]] = [blocks[arrival.block].steps[:index]]
        here = self.came[arrival]
        while (before := self.origins[here]) is not None:
            here, edge = before
            pieces.append((*blocks[here[0]].steps, edge))
        return tuple(piece for part in reversed(pieces) for piece in part)

    def _values(self, point: Point) -> tuple[Answers, S]:
        return self.passage.answers.values[point[0]], self.passage.states.values[point[1]]


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
    that paths may start with; without them no question has one. A path into the unknown state keeps what it has said
    to the questions that they answer.
    """
    passage = Passage(graph, client, questions)
    flow = Flow(passage)
    origins = flow.origins
    counts = [0] * len(graph.blocks)
    unanswered = () if questions is None else questions.unanswered
    begins = tuple(given) or (unanswered,)
    kept = [any(answers[index] is not None for answers in begins) for index in range(len(unanswered))]
    lost: dict[int, Point] = {}
    order: list[Spot] = []

    def arrive(spot: Spot, origin: tuple[Spot, Edge] | None) -> None:
        block = spot[0]
        if counts[block] >= (bound if len(order) < MOST_ARRIVALS else 1):
            flow.bounded.add(block)
            number = spot[1][0]
            if number not in lost:
                said = zip(passage.answers.values[number], kept, strict=True)
                lost[number] = passage.point(
                    tuple([each if is_kept else None for each, is_kept in said]), client.unknown
                )
            spot = block, lost[number]
        if spot not in origins:
            counts[block] += 1
            origins[spot] = origin
            order.append(spot)

    for start, answers in product(starts, begins):
        arrive((0, passage.point(answers, start)), None)
    # What arrives at new spots stands behind them in the list, which grows while it is gone through.
    for spot in order:
        for edge, point in passage.leave(*spot):
            arrive((edge.target, point), (spot, edge))
    return flow
