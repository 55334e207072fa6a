import pytest

from amplint.flow.graph import StepKind
from amplint.flow.influence import Influence, coming_again
from amplint.flow.statements import build
from amplint.model.tree import Call, Name
from tests.flow.paths import function


def asked(text: str) -> dict[str, bool]:
    """The names whose tests decide whether `wanted()` runs, and whether they do so at once."""
    graph = build(function(text))

    def is_wanted(step):
        call = step.node if step.kind is StepKind.CALL else None
        return isinstance(call, Call) and isinstance(call.func, Name) and call.func.id == "wanted"

    found = Influence(graph).deciding(is_wanted)
    edges = [(number, edge.node) for number, edge in graph.edges() if number in found]
    return {node.id: found[number] for number, node in edges if isinstance(node, Name)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("if a:\n    wanted()\n", {"a": True}),
        ("if a:\n    if b:\n        wanted()\n", {"a": False, "b": True}),
        ("if a:\n    other()\nwanted()\n", {}),
        ("if a:\n    return\nwanted()\n", {"a": True}),
        ("while a:\n    other()\nwanted()\n", {"a": False}),
        ("while a:\n    if b:\n        break\nwanted()\n", {}),
        ("for x in xs:\n    if a:\n        other()\nwanted()\n", {}),
        ("if a:\n    other()\n", {}),
        ("while a:\n    other()\n", {}),
    ],
)
def test_what_a_step_hangs_on(text, names):
    assert asked(text) == names


def comes_again(text: str, barred: str = "") -> dict[str, bool]:
    """Of each name that is called whether control comes back to it, without passing the call of a barred one."""
    graph = build(function(text))
    places = {
        step.node.func.id: number
        for number, _, step in graph.steps()
        if isinstance(step.node, Call) and isinstance(step.node.func, Name)
    }
    closed = frozenset({places[barred]} if barred else ())
    asked = {name: (number, closed) for name, number in places.items() if name != barred}
    found = coming_again(graph, asked.values())
    return {name: place in found for name, place in asked.items()}


def test_where_control_comes_again():
    assert comes_again("if a:\n    first()\nelse:\n    second()\n") == {"first": False, "second": False}
    loop = "before()\nwhile a:\n    if b:\n        first()\n    else:\n        second()\n    if c:\n        third()\n"
    assert comes_again(loop) == {"before": False, "first": True, "second": True, "third": True}
    once = "while a:\n    if b:\n        first()\n        break\n    second()\n"
    assert comes_again(once) == {"first": False, "second": True}


def test_what_is_barred_is_no_way_back():
    assert comes_again("while a:\n    if b:\n        first()\n    second()\n", barred="second") == {"first": False}
    assert comes_again("while a:\n    first()\n    if b:\n        second()\n", barred="second") == {"first": True}
