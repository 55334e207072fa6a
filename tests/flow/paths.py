"""Small programs and the sequences of bare calls (`a()`) that a graph lets them make."""

import textwrap
from collections.abc import Iterable

from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import Client, Known, explore
from amplint.flow.graph import Graph, Step, StepKind
from amplint.flow.statements import build
from amplint.model.tree import Call, FunctionDef, Name
from amplint.syntax.lower import lower


class Recorder(Client[str]):
    """The state is the text of the calls so far, where the callee is one of a to e; long ones end."""

    unknown = "?"

    def __init__(self, longest: int = 8) -> None:
        self.longest = longest

    def step(self, step: Step, state: str, known: Known) -> Iterable[str]:
        if state == "?" or step.kind is not StepKind.CALL:
            return (state,)
        assert isinstance(step.node, Call)
        func = step.node.func
        if not isinstance(func, Name) or func.id not in "abcde":
            return (state,)
        return () if len(state) >= self.longest else (state + func.id,)


def function(source: str) -> FunctionDef:
    """The function that some source defines; source without `def` is a function's body."""
    text = textwrap.dedent(source).strip("\n")
    if not text.startswith(("def ", "async def ")):
        text = "def f(p, q, r, xs, scaler, args):\n" + textwrap.indent(text, "    ")
    module = lower(text + "\n")
    assert isinstance(module.body[0], FunctionDef)
    return module.body[0]


def graph_of(source: str) -> Graph:
    return build(function(source))


def sequences(source: str, *, raised: bool = False, most: int = 4, longest: int = 8) -> list[str]:
    """The sequences of calls of all feasible paths to the function's exit (or to where an exception leaves it)."""
    graph = graph_of(source)
    flow = explore(graph, Recorder(longest), [""], Questions(graph, most=most), bound=4096)
    return sorted({arrival.state for arrival in flow.arrivals(graph.raised if raised else graph.exit)})
