"""A graph without what does not matter to a client: steps that it ignores, branches that decide nothing for it.

Every path of the client's steps and of the questions' answers stays; nothing else does. Most of a long function goes.
"""

from collections.abc import Callable

from msgspec.structs import replace

from amplint.flow.conditions import Questions
from amplint.flow.graph import Block, Edge, EdgeKind, Graph, Step, StepKind
from amplint.model.tree import Node


def slim(questions: Questions, keeps: Callable[[Step], bool], decides: Callable[[Node, int], bool]) -> Graph:
    """The graph of some questions, with the steps that a client keeps and those that change an answer.

    decides says of a loop, in a frame, that it matters to the client when it ends, of a test that its answer does, and
    of a handler that it does.
    """
    graph = questions.graph
    blocks = [_kept(block, questions, keeps) for block in graph.blocks]
    ends = {0, graph.exit, graph.raised}
    solid = {
        number
        for number, block in enumerate(blocks)
        if number in ends or block.steps or any(_matters(edge, questions, decides) for edge in block.edges)
    }
    reached: dict[int, tuple[int, ...]] = {}
    for number, block in enumerate(blocks):
        if number not in solid:
            blocks[number] = Block((), ())
            continue
        edges: dict[Edge, Edge] = {}
        for edge in block.edges:
            for target in reached.setdefault(edge.target, _solid_from(edge.target, graph, solid)):
                edges[replace(edge, target=target)] = edge
        for new, old in edges.items():
            questions.adopt(new, old)
        blocks[number] = Block(block.steps, tuple(edges))
    return Graph(tuple(blocks), graph.exit, graph.raised, graph.frames)


def _kept(block: Block, questions: Questions, keeps: Callable[[Step], bool]) -> Block:
    is_guarded = bool(block.raising)
    steps = tuple(
        step
        for step in block.steps
        if keeps(step) or questions.is_changed_by(step) or (is_guarded and step.kind is StepKind.CALL)
    )
    return Block(steps, block.edges)


def _matters(edge: Edge, questions: Questions, decides: Callable[[Node, int], bool]) -> bool:
    if edge.kind in (EdgeKind.BRANCH, EdgeKind.CASE):
        return questions.is_asked_by(edge) or (edge.node is not None and decides(edge.node, edge.frame))
    if edge.kind in (EdgeKind.TURN, EdgeKind.EXHAUSTED, EdgeKind.CAUGHT):
        return edge.node is not None and decides(edge.node, edge.frame)
    return edge.kind is EdgeKind.EXCEPTION


def _solid_from(start: int, graph: Graph, solid: set[int]) -> tuple[int, ...]:
    """The first blocks that matter on every way from a block on, itself included."""
    found: dict[int, None] = {}
    seen = {start}
    pending = [start]
    while pending:
        number = pending.pop()
        if number in solid:
            found[number] = None
            continue
        for edge in graph.blocks[number].edges:
            if edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    return tuple(found)
