"""Which places of a function can run one after the other; refuses to compare the tests of different branches."""

from typing import TYPE_CHECKING

from amplint.model.tree import Block, Break, Continue, If, Node, Raise, Return

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def leaves(block: Block) -> bool:
    """Whether control never falls out of the end of the block."""
    return bool(block) and isinstance(block[-1], Return | Raise | Continue | Break)


def are_exclusive(facts: "Facts", one: Node, other: Node) -> bool:
    """Whether two nodes of a function stand in different branches of one `if`."""
    sides: dict[If, bool] = {}
    child = one
    for outer in facts.index.ancestors(one):
        if isinstance(outer, If) and child is not outer.test:
            sides[outer] = child in outer.body
        child = outer
    child = other
    for outer in facts.index.ancestors(other):
        if isinstance(outer, If) and child is not outer.test and outer in sides:
            return sides[outer] != (child in outer.body)
        child = outer
    return False
