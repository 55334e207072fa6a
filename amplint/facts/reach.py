"""Everything that runs when a stretch of program runs: its own nodes, and those of the functions that it calls.

Refuses to know what is skipped by branches.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplint.facts.values import own_nodes
from amplint.model.tree import Call, ClassDef, For, FunctionDef, Lambda, Node, While, Yield, children

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that runs. via are the calls that lead to it, outermost first; is_looped: a loop on the way repeats it."""

    facts: "Facts"
    node: Node
    via: tuple[Call, ...] = ()
    is_looped: bool = False


def reached(facts: "Facts", roots: Iterable[Node], depth: int = _DEPTH) -> Iterator[Reached]:
    """The nodes below some nodes, in source order, each call followed by what it runs.

    Functions that are only defined there are left out; generators are not followed, for they run later.
    """
    yield from _reached(facts, roots, depth, (), False, frozenset())


def _reached(
    facts: "Facts",
    roots: Iterable[Node],
    depth: int,
    via: tuple[Call, ...],
    is_looped: bool,
    seen: frozenset[FunctionDef],
) -> Iterator[Reached]:
    stack: list[tuple[Node, bool]] = [(root, is_looped) for root in reversed(list(roots))]
    while stack:
        node, looped = stack.pop()
        if isinstance(node, FunctionDef | ClassDef | Lambda):
            continue
        yield Reached(facts, node, via, looped)
        inner = looped or isinstance(node, For | While)
        stack.extend((child, inner) for child in reversed(list(children(node))))
        callee = facts.targets.function(node) if isinstance(node, Call) and depth else None
        if callee is not None and callee[1] not in seen and not _is_generator(callee[1]):
            home, function = callee
            path = (*via, node) if isinstance(node, Call) else via
            yield from _reached(home, function.body, depth - 1, path, looped, seen | {function})


def _is_generator(function: FunctionDef) -> bool:
    return any(isinstance(node, Yield) for node in own_nodes(function))
