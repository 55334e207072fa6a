"""A generator that makes a context manager, in two halves: what runs when it is entered, and what when it is left.

Knows generators with one `yield` that every way comes by once; refuses all others.
"""

from amplint.flow.graph import Block, Edge, Graph, StepKind, block_of
from amplint.model.data import Value


class Halves(Value):
    """Both end at the exit of their graph; the second begins at the block `entry`, which no way of the first passes."""

    first: Graph
    second: Graph
    entry: int


def halves(graph: Graph) -> Halves | None:
    """The graph of a generator up to its `yield`, and from there on."""
    yields = [(number, place) for number, place, step in graph.steps() if step.kind is StepKind.YIELD]
    if len(yields) != 1:
        return None
    (number, place), blocks = yields[0], graph.blocks
    block = blocks[number]
    if number in _reached(graph, [edge.target for edge in block.edges], None):
        return None
    if number != 0 and graph.exit in _reached(graph, [0], number):
        return None
    first = block_of(block.steps[: place + 1], (Edge(graph.exit), *block.raising))
    second = block_of(block.steps[place + 1 :], block.edges)
    return Halves(_with(graph, number, first), _with(graph, number, second), number)


def _with(graph: Graph, number: int, block: Block) -> Graph:
    blocks = (*graph.blocks[:number], block, *graph.blocks[number + 1 :])
    return Graph(blocks, graph.exit, graph.raised, graph.frames)


def _reached(graph: Graph, starts: list[int], without: int | None) -> set[int]:
    """The blocks on ways from some blocks on, less those behind one that is not passed."""
    found, pending = set(starts), list(starts)
    while pending:
        number = pending.pop()
        targets = {edge.target for edge in graph.blocks[number].edges if number != without} - found
        found |= targets
        pending += sorted(targets)
    return found
