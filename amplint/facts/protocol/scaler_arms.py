"""Scalers that one arm of a choice makes, and the other makes switched off, or something else in their stead.

Knows one choice around all that may have been made; refuses to combine several. The test of the choice is the switch.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.branches import Side, leaves, sides
from amplint.facts.program.origins import Origin
from amplint.flow.terms import OPAQUE, Term
from amplint.model.tree import If

if TYPE_CHECKING:
    from amplint.facts.protocol.scene import Scene

OFF: Term = ("const", "bool", False)
ALWAYS = (None, ("const", "bool", True))


def chosen_switch(
    scene: "Scene",
    made: list[Origin],
    switches: list[Term | None],
    others: list[Origin],
    frame: int,
    owner: Term | None,
) -> Term | None:
    """The term that is true where a scaler is on, if it is off for good in one arm and on for good in the other.

    others are what stands in its place: where they are, there is no scaler.
    """
    off = [origin for origin, switch in zip(made, switches, strict=True) if switch == OFF] + others
    on = [origin for origin, switch in zip(made, switches, strict=True) if switch in ALWAYS]
    if not off or len(off) + len(on) != len(made) + len(others):
        return None
    around = [set(sides(origin.facts, origin.expr)) for origin in on]
    for side in set.intersection(*around) if around else ():
        if all(_is_beyond(side, origin) for origin in off):
            test = scene.local_or_foreign(made[0].facts, side.choice.test, frame, owner)
            return test if side.is_true or test == OPAQUE else ("not", test)
    return None


def _is_beyond(side: Side, origin: Origin) -> bool:
    """Whether an origin stands on the other side of a choice, or behind one whose own side leaves."""
    if Side(side.choice, not side.is_true) in set(sides(origin.facts, origin.expr)):
        return True
    if not isinstance(side.choice, If) or not leaves(side.choice.body if side.is_true else side.choice.orelse):
        return False
    index = origin.facts.index
    around = {id(node) for node in index.ancestors(origin.expr)}
    if id(index.parents.get(side.choice)) not in around:
        return False
    _, block = index.block(side.choice)
    return any(id(statement) in around for statement in block[block.index(side.choice) + 1 :])
