"""What becomes of points at the steps and edges of a graph, worked out once for each: many paths bring the same ones.

A point is a pair of small numbers, of the answers and of the client's state. States are large; each is hashed when it
is met for the first time, and never again. Knows no order of blocks, and no state.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct, field

from amplint.flow.client import Client, Known, S
from amplint.flow.conditions import Answers, Questions
from amplint.flow.graph import Block, Edge, EdgeKind, Graph, Step, StepKind

H = TypeVar("H", bound=Hashable)
Point = tuple[int, int]
# In the order in which they were found, each once.
Points = list[Point]


class Numbers(Generic[H]):
    """Equal values have one number."""

    def __init__(self) -> None:
        self.values: list[H] = []
        self._known: dict[H, int] = {}

    def of(self, value: H) -> int:
        """The number of a value."""
        number = self._known.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def all_of(self, values: Iterable[H]) -> tuple[int, ...]:
        """The numbers of some values."""
        return tuple(map(self.of, values))


class _Step(Struct):
    """A step, and what came after it so far: by state, or by point where the client asks for the answers too.

    answers is None where no answer changes.
    """

    step: Step
    is_asking: bool
    throws: bool
    states: dict[int | Point, tuple[int, ...]] = field(default_factory=dict)
    answers: dict[int, tuple[int, ...]] | None = None


class _Way(Struct):
    """An edge, and what it let through so far; None where it asks nothing, and where the client does not heed it."""

    edge: Edge
    is_thrown: bool
    states: dict[int, tuple[int, ...]] | None
    answers: dict[int, tuple[int, ...]] | None


class Passage(Generic[S]):
    """A client and some questions on their way through a graph."""

    def __init__(self, graph: Graph, client: Client[S], questions: Questions | None) -> None:
        self.graph = graph
        self.client = client
        self.questions = questions
        self.states: Numbers[S] = Numbers()
        self.answers: Numbers[Answers] = Numbers()
        self._blocks: list[tuple[tuple[_Step, ...], tuple[_Way, ...]] | None] = [None] * len(graph.blocks)

    def point(self, answers: Answers, state: S) -> Point:
        """The point that is meant by answers and a state."""
        return self.answers.of(answers), self.states.of(state)

    def leave(self, number: int, point: Point) -> Iterator[tuple[Edge, Point]]:
        """Every edge out of a block that a point at its start can take, with what becomes of it."""
        steps, ways = self._blocks[number] or self._read(number)
        points, thrown = [point], []
        for step in steps:
            if step.throws:
                thrown += self._thrown(step.step, points)
            points = self._after(step, points)
        for way in ways:
            for at in dict.fromkeys(thrown) if way.is_thrown else points:
                if way.answers is None and way.states is None:
                    yield way.edge, at
                    continue
                for answers in self._along(way, at[0]):
                    for state in self._through(way, at[1]):
                        yield way.edge, (answers, state)

    def through(self, number: int, point: Point) -> Iterator[tuple[int, Step, Points]]:
        """The points before each step of a block."""
        points = [point]
        for index, step in enumerate((self._blocks[number] or self._read(number))[0]):
            yield index, step.step, points
            points = self._after(step, points)

    def _read(self, number: int) -> tuple[tuple[_Step, ...], tuple[_Way, ...]]:
        block = self.graph.blocks[number]
        read = tuple(self._steps(block)), tuple(map(self._way, block.edges))
        self._blocks[number] = read
        return read

    def _steps(self, block: Block) -> Iterator[_Step]:
        catches = bool(block.raising)
        for step in block.steps:
            is_asking = self.questions is not None and self.client.asks(step)
            read = _Step(step, is_asking, catches and step.kind is StepKind.CALL)
            if self.questions is not None and self.questions.is_changed_by(step):
                read.answers = {}
            yield read

    def _way(self, edge: Edge) -> _Way:
        is_asked = self.questions is not None and self.questions.says_something(edge)
        is_thrown = edge.kind is EdgeKind.EXCEPTION
        return _Way(edge, is_thrown, {} if self.client.heeds(edge) else None, {} if is_asked else None)

    def _thrown(self, step: Step, points: Points) -> Points:
        return [point for point in points if self.client.may_raise(step, self.states.values[point[1]])]

    def _after(self, step: _Step, points: Points) -> Points:
        found: Points = []
        for point in points:
            answers, state = point
            key = point if step.is_asking else state
            following = step.states.get(key)
            if following is None:
                known = Known(self.questions, self.answers.values[answers])
                states = self.client.step(step.step, self.states.values[state], known)
                following = step.states[key] = self.states.all_of(states)
            afterwards = self._answered(step, answers)
            found += [(after, new) for new in following for after in afterwards]
        return found if len(found) < 2 else list(dict.fromkeys(found))

    def _answered(self, step: _Step, answers: int) -> tuple[int, ...]:
        if step.answers is None:
            return (answers,)
        found = step.answers.get(answers)
        if found is None:
            assert self.questions is not None
            after = self.questions.after(step.step, self.answers.values[answers])
            found = step.answers[answers] = self.answers.all_of(after)
        return found

    def _along(self, way: _Way, answers: int) -> tuple[int, ...]:
        if way.answers is None:
            return (answers,)
        found = way.answers.get(answers)
        if found is None:
            assert self.questions is not None
            after = self.questions.along(way.edge, self.answers.values[answers])
            found = way.answers[answers] = self.answers.all_of(after)
        return found

    def _through(self, way: _Way, state: int) -> tuple[int, ...]:
        if way.states is None:
            return (state,)
        found = way.states.get(state)
        if found is None:
            after = self.client.edge(way.edge, self.states.values[state])
            found = way.states[state] = self.states.all_of(after)
        return found
