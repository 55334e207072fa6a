"""Which places of a function can run one after the other, and on which sides of choices they stand.

Refuses to compare the tests of different branches.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.tree import Block, Break, Continue, If, IfExp, Node, Raise, Return

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Side(Value):
    """One side of an `if` or of a conditional expression: what its test must say for a place to run."""

    choice: If | IfExp
    is_true: bool


def leaves(block: Block) -> bool:
    """Whether control never falls out of the end of the block."""
    return bool(block) and isinstance(block[-1], Return | Raise | Continue | Break)


def sides(facts: "Facts", place: Node) -> Iterator[Side]:
    """The sides of the choices around a place, from the innermost outwards, also around its function."""
    child = place
    for outer in facts.index.ancestors(place):
        if isinstance(outer, If | IfExp) and child is not outer.test:
            yield Side(outer, child in outer.body if isinstance(outer, If) else child is outer.body)
        child = outer


def are_exclusive(facts: "Facts", one: Node, other: Node) -> bool:
    """Whether two nodes stand on different sides of one choice."""
    of_one = {side.choice: side.is_true for side in sides(facts, one)}
    common = next((side for side in sides(facts, other) if side.choice in of_one), None)
    return common is not None and of_one[common.choice] is not common.is_true
