"""Scalers that one arm of a choice makes switched off, and the other on: the test of the choice is their switch.

Knows one choice around all that may have made a scaler; refuses to combine several.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.branches import Side, sides
from amplint.facts.program.origins import Origin
from amplint.flow.terms import OPAQUE, Term

if TYPE_CHECKING:
    from amplint.facts.protocol.scene import Scene

OFF: Term = ("const", "bool", False)
ALWAYS = (None, ("const", "bool", True))


def chosen_switch(
    scene: "Scene", made: list[Origin], switches: list[Term | None], frame: int, owner: Term | None
) -> Term | None:
    """The term that is true where a scaler is on, if it is off for good in one arm and on for good in the other."""
    if OFF not in switches or not all(switch == OFF or switch in ALWAYS for switch in switches):
        return None
    by_switch: dict[bool, set[Side]] = {}
    for origin, switch in zip(made, switches, strict=True):
        around = set(sides(origin.facts, origin.expr))
        is_on = switch != OFF
        by_switch[is_on] = around if is_on not in by_switch else by_switch[is_on] & around
    for side in by_switch.get(True, ()):
        if Side(side.choice, not side.is_true) in by_switch[False]:
            test = scene.local_or_foreign(made[0].facts, side.choice.test, frame, owner)
            return test if side.is_true or test == OPAQUE else ("not", test)
    return None
