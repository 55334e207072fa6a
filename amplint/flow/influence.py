"""Which branches matter: those that decide whether a wanted step runs, and those that control comes back to."""

from collections.abc import Callable, Iterable
from functools import cached_property

from msgspec import Struct

from amplint.flow.graph import EdgeKind, Graph, Step

# A block to which control may come back, and the blocks that it does not pass on the way.
Return = tuple[int, frozenset[int]]


class Influence(Struct, dict=True):
    """The branches of one graph, by the numbers of their blocks."""

    graph: Graph

    def deciding(self, is_wanted: Callable[[Step], bool]) -> dict[int, bool]:
        """Those on whose outcome it depends whether some wanted step runs; True for those that decide it.

        A step depends on a branch where it surely follows one of the outcomes, but not the branch itself (control
        dependence), and on the branches on which such a branch depends. In a part of the graph that has no end, every
        branch may matter; and so may one of whose outcomes control surely comes back to it, for a loop that is never
        left runs no step behind it.
        """
        blocks, endless, controlled = self.graph.blocks, self._endless, self._controlled
        wanted = _bits(number for number, block in enumerate(blocks) if any(map(is_wanted, block.steps)))
        if not wanted:
            return {}
        found = set(self._returning)
        pending = {number for number in controlled if number not in found and number not in endless}
        dependent = wanted | _bits(found)
        while further := {number for number in pending if controlled[number] & dependent}:
            pending -= further
            found |= further
            dependent |= _bits(further)
        decisive = {number for number in controlled if number in endless or controlled[number] & wanted}
        kinds = (EdgeKind.BRANCH, EdgeKind.CASE)
        return {
            number: number in decisive
            for number in sorted(found | decisive)
            if any(edge.kind in kinds for edge in blocks[number].edges)
        }

    @cached_property
    def _after(self) -> list[int]:
        return _postdominators(self.graph)

    @cached_property
    def _endless(self) -> set[int]:
        return _endless(self.graph)

    @cached_property
    def _controlled(self) -> dict[int, int]:
        """For each branching block the blocks that surely follow one of its outcomes."""
        branching = [number for number, block in enumerate(self.graph.blocks) if len(block.edges) > 1]
        return {number: _controlled(self.graph, number, self._after) for number in branching}

    @cached_property
    def _returning(self) -> set[int]:
        """The blocks of whose outcomes one surely leads back to them."""
        blocks = enumerate(self.graph.blocks)
        return {n for n, block in blocks if any(self._after[edge.target] >> n & 1 for edge in block.edges)}


def _bits(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def _controlled(graph: Graph, number: int, after: list[int]) -> int:
    """The blocks, as bits, that surely follow one of the outcomes of a branching block, but not the block itself."""
    follow = 0
    for edge in graph.blocks[number].edges:
        follow |= after[edge.target]
    return follow & ~(after[number] & ~(1 << number))


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


def coming_again(graph: Graph, asked: Iterable[Return]) -> set[Return]:
    """From which blocks control can come back to them without passing certain other ones, of those that are asked.

    All are answered at once, each by one bit of the numbers that go along the edges: one walk for each would take
    most of the time that a long function needs.
    """
    asked = list(dict.fromkeys(asked))
    leaving, closed = [0] * len(graph.blocks), [0] * len(graph.blocks)
    without: dict[frozenset[int], int] = {}
    for number, (block, barred) in enumerate(asked):
        leaving[block] |= 1 << number
        without[barred] = without.get(barred, 0) | 1 << number
    for barred, bits in without.items():
        for block in barred:
            closed[block] |= bits
    reached = _reached(graph, leaving, closed)
    return {pair for number, pair in enumerate(asked) if reached[pair[0]] >> number & 1}


def _reached(graph: Graph, leaving: list[int], closed: list[int]) -> list[int]:
    """The bits that arrive at each block, when some leave it and some cannot pass it."""
    targets = [tuple({edge.target for edge in block.edges}) for block in graph.blocks]
    reached = [0] * len(targets)
    handed_on = [0] * len(targets)
    is_changed = True
    while is_changed:
        is_changed = False
        for number, further in enumerate(targets):
            bits = reached[number] | leaving[number]
            if bits != handed_on[number]:
                handed_on[number] = bits
                is_changed = True
                for target in further:
                    reached[target] |= bits & ~closed[target]
    return reached
