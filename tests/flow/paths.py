"""Small programs and the sequences of bare calls (`a()`) that a graph lets them make."""

import textwrap
from collections.abc import Iterable

from amplint.flow.client import Client, Known
from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import explore
from amplint.flow.graph import Frame, Graph, Step, StepKind
from amplint.flow.inline import Callee, expand
from amplint.flow.statements import build
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name
from amplint.model.walks import walk
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


def program_graph(source: str) -> Graph:
    """The graph of a program's last function, with its other functions in the place of their calls.

    Functions are found by name, methods of any class by their attribute; arguments are positional.
    """
    module = lower(textwrap.dedent(source).strip("\n") + "\n")
    found = {node.name: node for node in walk(module) if isinstance(node, FunctionDef)}
    methods = {method for node in walk(module) if isinstance(node, ClassDef) for method in node.body}

    def resolve(step: Step, frames: tuple[Frame, ...]) -> Callee | None:
        assert isinstance(step.node, Call)
        func = step.node.func
        callee = found.get(func.id if isinstance(func, Name) else func.attr if isinstance(func, Attribute) else "")
        if callee is None:
            return None
        values: list[Expr] = [argument.value for argument in step.node.args]
        if callee in methods:
            assert isinstance(func, Attribute)
            values.insert(0, func.value)
        names = [parameter.name for parameter in callee.parameters]
        return Callee(callee, tuple(zip(names, values, strict=False)))

    owner = module.body[-1]
    assert isinstance(owner, FunctionDef)
    return expand(build(owner), resolve)


def sequences(source: str, *, raised: bool = False, most: int = 4, longest: int = 8) -> list[str]:
    """The sequences of calls of all feasible paths to the function's exit (or to where an exception leaves it)."""
    return sequences_of(graph_of(source), raised=raised, most=most, longest=longest)


def sequences_of(graph: Graph, *, raised: bool = False, most: int = 4, longest: int = 8) -> list[str]:
    flow = explore(graph, Recorder(longest), [""], Questions(graph, most=most), bound=4096)
    return sorted({arrival.state for arrival in flow.arrivals(graph.raised if raised else graph.exit)})
