"""A drawn graph made small: no unreachable blocks, no empty ones to pass through, numbers in reading order.

Never changes which steps a path takes.
"""

from msgspec.structs import replace

from amplint.flow.graph import Block, Edge, EdgeKind, Graph


def tidy(graph: Graph) -> Graph:
    """The same paths in fewer blocks, numbered in reverse postorder; exit and raised come last."""
    blocks = _merge(_skip_empty(graph), graph)
    order = _order(blocks, graph)
    number = {old: new for new, old in enumerate(order)}
    return Graph(
        tuple(
            Block(blocks[old].steps, tuple([edge.to(number[edge.target]) for edge in blocks[old].edges]))
            for old in order
        ),
        number[graph.exit],
        number[graph.raised],
        graph.frames,
    )


def _skip_empty(graph: Graph) -> list[Block]:
    """Edges that lead to an empty block with a single plain edge lead where that edge leads."""

    def landing(number: int) -> int:
        seen = {number}
        while True:
            block = graph.blocks[number]
            if block.steps or len(block.edges) != 1 or block.edges[0].kind is not EdgeKind.FLOW:
                return number
            number = block.edges[0].target
            if number in seen:
                return number
            seen.add(number)

    def spread(edge: Edge) -> tuple[Edge, ...]:
        """An exception goes straight to the handlers, not to a block where it would choose one."""
        target = graph.blocks[edge.target]
        if edge.kind is EdgeKind.EXCEPTION and not target.steps and target.edges:
            return tuple(replace(way, kind=EdgeKind.EXCEPTION) for way in target.edges)
        return (edge,)

    return [
        Block(
            block.steps,
            tuple(dict.fromkeys([way.to(landing(way.target)) for edge in block.edges for way in spread(edge)])),
        )
        for block in graph.blocks
    ]


def _merge(blocks: list[Block], graph: Graph) -> list[Block]:
    """A block whose only way is to a block that has no other way in takes its steps over."""
    arrivals = [0] * len(blocks)
    arrivals[0] += 1
    arrivals[graph.exit] += 2
    arrivals[graph.raised] += 2
    reachable = sorted(_reachable(blocks))
    for number in reachable:
        for edge in blocks[number].edges:
            arrivals[edge.target] += 1
    for number in reachable:
        while (after := _only_successor(blocks[number])) is not None and after != number and arrivals[after] == 1:
            last = blocks[after]
            block = blocks[number]
            if block.raising != last.raising and block.may_raise and last.may_raise:
                break
            raising = tuple(edge for edge in block.raising if edge not in last.edges)
            blocks[number] = Block(block.steps + last.steps, last.edges + raising)
            blocks[after] = Block((), ())
    return blocks


def _only_successor(block: Block) -> int | None:
    ways = [edge for edge in block.edges if edge.kind is not EdgeKind.EXCEPTION]
    return ways[0].target if len(ways) == 1 and ways[0].kind is EdgeKind.FLOW else None


def _reachable(blocks: list[Block]) -> set[int]:
    seen = {0}
    stack = [0]
    while stack:
        for edge in blocks[stack.pop()].edges:
            if edge.target not in seen:
                seen.add(edge.target)
                stack.append(edge.target)
    return seen


def _order(blocks: list[Block], graph: Graph) -> list[int]:
    ends = (graph.exit, graph.raised)
    seen = {0, *ends}
    postorder: list[int] = []
    stack: list[tuple[int, list[Edge]]] = [(0, list(blocks[0].edges))]
    while stack:
        number, edges = stack[-1]
        if edges:
            target = edges.pop().target
            if target not in seen:
                seen.add(target)
                stack.append((target, list(blocks[target].edges)))
        else:
            postorder.append(number)
            stack.pop()
    return [*reversed(postorder), *ends]
