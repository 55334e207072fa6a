from collections.abc import Iterable

from amplint.flow.client import Client, Known
from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import explore
from amplint.flow.graph import Edge, EdgeKind, Step, StepKind
from amplint.model.tree import Call, Name
from tests.flow.paths import Recorder, graph_of


def called(steps: Iterable[Step | Edge]) -> str:
    """The single-letter calls among the pieces of a path."""
    calls = [piece.node for piece in steps if isinstance(piece, Step) and piece.kind is StepKind.CALL]
    return "".join(call.func.id for call in calls if isinstance(call, Call) and isinstance(call.func, Name))


def test_the_path_to_a_state_is_a_shortest_one_that_leads_to_it():
    graph = graph_of("for x in xs:\n    if x: a()\n    else: b()\nc()")
    flow = explore(graph, Recorder(4), [""], Questions(graph))
    for arrival in flow.arrivals(graph.exit):
        assert called(flow.path(arrival)) == arrival.state
    place = next(place for place in flow.places() if place.state == "ab" and place.step.kind is StepKind.CALL)
    assert called(flow.path(place.arrival, place.index)) == "ab"


def test_a_path_tells_the_answers_on_its_way():
    graph = graph_of("if p: a()\nif q: b()")
    flow = explore(graph, Recorder(), [""], Questions(graph))
    arrival = next(arrival for arrival in flow.arrivals(graph.exit) if arrival.state == "b")
    branches = [piece for piece in flow.path(arrival) if isinstance(piece, Edge) and piece.kind is EdgeKind.BRANCH]
    assert [(edge.node.id, edge.is_true) for edge in branches if isinstance(edge.node, Name)] == [
        ("p", False),
        ("q", True),
    ]


def test_every_state_before_a_step_is_a_place():
    graph = graph_of("if p: a()\nb()\nc()")
    flow = explore(graph, Recorder(), [""])
    seen = {(place.state, called([place.step])) for place in flow.places() if place.step.kind is StepKind.CALL}
    assert seen == {("", "a"), ("", "b"), ("a", "b"), ("b", "c"), ("ab", "c")}


def test_past_the_bound_a_block_has_the_unknown_state():
    graph = graph_of("for x in xs:\n    if x: a()\n    else: b()\nc()")
    flow = explore(graph, Recorder(8), [""], bound=5)
    assert flow.bounded
    states = {arrival.state for arrival in flow.arrivals(graph.exit)}
    assert "?" in states
    assert len(states) == 6


def test_within_the_bound_no_state_is_unknown():
    graph = graph_of("if p: a()\nelse: b()")
    flow = explore(graph, Recorder(), [""], bound=2)
    assert not flow.bounded
    assert {arrival.state for arrival in flow.arrivals(graph.exit)} == {"a", "b"}


class Asking(Client[str]):
    """Writes down what is known of p at each call."""

    unknown = "!"

    def step(self, step: Step, state: str, known: Known) -> Iterable[str]:
        if step.kind is not StepKind.CALL or not isinstance(step.node, Call):
            return (state,)
        return (state + {True: "y", False: "n", None: "?"}[known.truth(step.node.args[0].value)],)

    def may_raise(self, step: Step, state: str) -> bool:
        return state.endswith("n")


def test_a_client_may_ask_what_a_path_has_answered():
    graph = graph_of("a(p)\nif p: a(p)\nelse: a(not p)\na(p and q)\nif q: x = 1\np = q\na(p)\nif p: x = 1")
    flow = explore(graph, Asking(), [""], Questions(graph))
    assert {arrival.state for arrival in flow.arrivals(graph.exit)} == {"?y?y", "?y?n", "?yny", "?ynn"}
    flow = explore(graph, Asking(), [""])
    assert {arrival.state for arrival in flow.arrivals(graph.exit)} == {"????"}


def test_calls_raise_only_in_states_in_which_the_client_says_so():
    graph = graph_of("if p: a(p)\nelse: a(p)\ntry: a(q)\nexcept E:\n    a(r)\n    a(r)\nif p: x = 1")
    flow = explore(graph, Asking(), [""], Questions(graph))
    assert {arrival.state for arrival in flow.arrivals(graph.exit)} == {"y?", "n?", "n??"}


def test_a_client_may_refuse_an_edge():
    class OneTurn(Recorder):
        def edge(self, edge: Edge, state: str) -> Iterable[str]:
            return () if edge.kind is EdgeKind.EXHAUSTED and not state else (state,)

    graph = graph_of("for x in xs: a()")
    assert "" not in {arrival.state for arrival in explore(graph, OneTurn(3), [""]).arrivals(graph.exit)}
