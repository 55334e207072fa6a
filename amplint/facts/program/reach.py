"""Everything that runs when a stretch of program runs: its own nodes, and those of the functions that it calls.

Refuses to know what is skipped by branches.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.tree import Call, ClassDef, Expr, For, FunctionDef, Lambda, Name, Node, While
from amplint.model.walks import children, is_of_self

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_DEPTH = 5
_DEFINITIONS = frozenset({FunctionDef, ClassDef, Lambda})
_LOOPS = frozenset({For, While})


class Reached(Value):
    """A node that runs. via are the calls that lead to it, outermost first; is_looped: a loop on the way repeats it."""

    facts: "Facts"
    node: Node
    via: tuple[Call, ...] = ()
    is_looped: bool = False


def reached(
    facts: "Facts", roots: Iterable[Node], depth: int = _DEPTH, *, kind: type[Node] | tuple[type[Node], ...] = Node
) -> Iterator[Reached]:
    """The nodes of a kind, or of several, below some nodes, in source order, each call followed by what it runs.

    Functions that are only defined there are left out; generators are not followed, for they run later.
    """
    kinds = frozenset(kind if isinstance(kind, tuple) else (kind,))
    nothing: frozenset[FunctionDef | Lambda] = frozenset()
    start: tuple[tuple[Call, ...], bool, int, frozenset[FunctionDef | Lambda]] = ((), False, depth, nothing)
    stack = [(facts, root, *start) for root in reversed(list(roots))]
    while stack:
        home, node, via, looped, left, seen = stack.pop()
        of = type(node)
        if of in _DEFINITIONS:
            continue
        if of in kinds or kind is Node:
            yield Reached(home, node, via, looped)
        inner = looped or of in _LOOPS
        stack += [(home, child, via, inner, left, seen) for child in children(node)[::-1]]
        if not left or type(node) is not Call:
            continue
        callee = home.targets.function(node)
        if callee is None:
            bodies = (each for each in _lambdas(home, node.func) if each[1] not in seen)
            stack += [(owner, each.body, (*via, node), looped, left - 1, seen | {each}) for owner, each in bodies]
        if callee is not None and callee[1] not in seen and not callee[0].index.is_generator(callee[1]):
            owner, function = callee
            path, behind = (*via, node), seen | {function}
            stack += [(owner, each, path, looped, left - 1, behind) for each in reversed(function.body)]


def _lambdas(home: "Facts", func: Expr) -> "list[tuple[Facts, Lambda]]":
    """The lambdas that a name, or an attribute of `self`, may hold."""
    if not (isinstance(func, Name) or is_of_self(func)) or home.names.canonical(func) is not None:
        return []
    origins = home.values.origins(func, is_local=True)
    return [(origin.facts, origin.node) for origin in origins if isinstance(origin.node, Lambda)]
