"""Which branches matter: those that decide whether a wanted step runs, and those that control comes back to."""

from collections.abc import Callable

from amplint.flow.graph import EdgeKind, Graph, Step


def deciding(graph: Graph, is_wanted: Callable[[Step], bool]) -> dict[int, bool]:
    """The branching blocks on whose outcome it depends whether some wanted step runs; True for those that decide it.

    A step depends on a branch where it surely follows one of the outcomes, but not the branch itself (control
    dependence), and on the branches on which such a branch depends. In a part of the graph that has no end, every
    branch may matter; and so may one of whose outcomes control surely comes back to it, for a loop that is never left
    runs no step behind it.
    """
    endless = _endless(graph)
    after = _postdominators(graph)
    wanted = {number for number, block in enumerate(graph.blocks) if any(map(is_wanted, block.steps))}
    branching = [number for number, block in enumerate(graph.blocks) if len(block.edges) > 1]
    back = {n for n, block in enumerate(graph.blocks) if wanted and any(after[e.target] >> n & 1 for e in block.edges)}
    found: dict[int, bool] = dict.fromkeys(back, False)
    pending = list(wanted | back)
    controlled = {number: _controlled(graph, number, after) for number in branching}
    while pending:
        dependent = pending.pop()
        for number in branching:
            if number in found and (found[number] or dependent not in wanted):
                continue
            if number in endless:
                found[number] = True
                continue
            if controlled[number][dependent >> 3] >> (dependent & 7) & 1:
                if number not in found:
                    pending.append(number)
                found[number] = dependent in wanted
    kinds = (EdgeKind.BRANCH, EdgeKind.CASE)
    return {n: found[n] for n in sorted(found) if any(edge.kind in kinds for edge in graph.blocks[n].edges)}


def _controlled(graph: Graph, number: int, after: list[int]) -> bytes:
    """The blocks, as bits, that surely follow one of the outcomes of a branching block, but not the block itself."""
    follow = 0
    for edge in graph.blocks[number].edges:
        follow |= after[edge.target]
    return (follow & ~(after[number] & ~(1 << number))).to_bytes(len(graph.blocks) // 8 + 1, "little")


def _postdominators(graph: Graph) -> list[int]:
    """For each block the set, as bits, of the blocks that every path from it to an end passes, itself included."""
    size = len(graph.blocks)
    everything = (1 << size) - 1
    after = [everything] * size
    is_changed = True
    while is_changed:
        is_changed = False
        for number in range(size - 1, -1, -1):
            common = everything if graph.blocks[number].edges else 0
            for edge in graph.blocks[number].edges:
                common &= after[edge.target]
            common |= 1 << number
            if common != after[number]:
                after[number] = common
                is_changed = True
    return after


def _endless(graph: Graph) -> set[int]:
    """The blocks from which no end can be reached."""
    arrivals: dict[int, list[int]] = {}
    for number, edge in graph.edges():
        arrivals.setdefault(edge.target, []).append(number)
    pending = [number for number, block in enumerate(graph.blocks) if not block.edges]
    ending = set(pending)
    while pending:
        for number in arrivals.get(pending.pop(), ()):
            if number not in ending:
                ending.add(number)
                pending.append(number)
    return set(range(len(graph.blocks))) - ending


def comes_again(graph: Graph, block: int, without: frozenset[int]) -> bool:
    """Whether control can come from a block back to it without passing certain blocks."""
    seen: set[int] = set()
    pending = [block]
    while pending:
        for edge in graph.blocks[pending.pop()].edges:
            if edge.target == block:
                return block not in without
            if edge.target not in seen and edge.target not in without:
                seen.add(edge.target)
                pending.append(edge.target)
    return False
