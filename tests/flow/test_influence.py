import pytest

from amplint.flow.graph import StepKind
from amplint.flow.influence import deciding
from amplint.flow.statements import build
from amplint.model.tree import Call, Name
from tests.flow.paths import function


def asked(text: str) -> dict[str, bool]:
    """The names whose tests decide whether `wanted()` runs, and whether they do so at once."""
    graph = build(function(text))

    def is_wanted(step):
        call = step.node if step.kind is StepKind.CALL else None
        return isinstance(call, Call) and isinstance(call.func, Name) and call.func.id == "wanted"

    found = deciding(graph, is_wanted)
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
    ],
)
def test_what_a_step_hangs_on(text, names):
    assert asked(text) == names
