"""The assignment that surely ran last before a place is read: what was made of the place earlier is gone by then.

Knows blocks, and `with` around them; an assignment under a test is not sure, one that reads the place adds to it.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from amplint.model.tree import AnnAssign, Assign, Expr, List, Node, Starred, Stmt, Tuple, With
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def last_given(home: "Facts", nodes: Iterable[Node], use: Expr, is_at: Callable[[Node], bool]) -> Stmt | None:
    """The last statement before a use that gives the place, which is_at knows, a new value in any case."""
    before = (n for n in nodes if isinstance(n, Assign | AnnAssign) and n.span < use.span and _gives(n, is_at))
    return max((node for node in before if _surely_runs(home, node, use)), key=lambda node: node.span, default=None)


def _gives(node: Assign | AnnAssign, is_at: Callable[[Node], bool]) -> bool:
    targets = node.targets if isinstance(node, Assign) else (node.target,)
    if node.value is None or not any(is_at(part) for target in targets for part in _parts(target)):
        return False
    return not any(is_at(part) for part in walk(node.value))


def _parts(target: Expr) -> Iterable[Expr]:
    if isinstance(target, Tuple | List):
        return [part for element in target.elts for part in _parts(element)]
    return [] if isinstance(target, Starred) else [target]


def _surely_runs(home: "Facts", node: Stmt, use: Expr) -> bool:
    """Whether a statement stands in a block around the use, in front of it; what `with` is around it does not count."""
    index = home.index
    around = {id(outer) for outer in (use, *index.ancestors(use))}
    current: Stmt = node
    while True:
        holder, block = index.block(current)
        if any(id(later) in around for later in block[block.index(current) + 1 :]):
            return True
        if not isinstance(holder, With):
            return False
        current = holder
