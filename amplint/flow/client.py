"""What an analysis over a graph has to say: which states follow a step or an edge. Knows no graph and no state."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from amplint.flow.conditions import Answers, Questions
from amplint.flow.graph import Edge, Step
from amplint.model.data import Value
from amplint.model.tree import Expr

S = TypeVar("S")


class Known(Value):
    """What a path has answered so far."""

    questions: Questions | None
    answers: Answers

    def truth(self, expr: Expr, frame: int = 0) -> bool | None:
        """Whether an expression is true on this path, where the answers so far say so."""
        return None if self.questions is None else self.questions.truth(expr, frame, self.answers)


class Client(ABC, Generic[S]):
    """What an analysis says about its states. States are hashable and compare by value.

    Each question about a state is asked once, so the same question must always have the same answer.
    """

    unknown: S

    @abstractmethod
    def step(self, step: Step, state: S, known: Known) -> Iterable[S]:
        """The states after a step; none where the path ends there."""

    def asks(self, step: Step) -> bool:
        """Whether what comes after a step may depend on what the path has answered, not on the state alone."""
        return True

    def edge(self, edge: Edge, state: S) -> Iterable[S]:
        """The states after an edge; none where the path cannot take it."""
        return (state,)

    def heeds(self, edge: Edge) -> bool:
        """Whether an edge may change some state, or be closed to it."""
        return True

    def may_raise(self, step: Step, state: S) -> bool:
        """Whether a call made in a state may raise an exception that a handler in the graph catches."""
        return True
