"""Float16 regions whose loss is scaled where there is a scaler, and runs backward as it is where there is none.

Goes by a test for the scaler itself, in the function of the region; any switch of the region is taken to be right.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.carried_losses import tainted
from amplint.facts.autocast.regions import Region
from amplint.facts.autocast.unscaled import Unscaled
from amplint.facts.program.branches import Side, sides
from amplint.facts.program.spelling import spelled
from amplint.facts.training.events import EventKind
from amplint.model.tree import Attribute, Call, Compare, Constant, Expr, FunctionDef, If, Name
from amplint.model.walks import is_none, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

HALF = frozenset({"float16"})


def unscaled_branches(facts: "Facts") -> Iterator[Unscaled]:
    """The regions with such a backward, each once."""
    for region in facts.regions.all:
        function = facts.index.function(region.opening)
        if not isinstance(function, FunctionDef) or not _is_always_on(facts, region):
            continue
        names = tainted(region, function)
        for event in facts.training.within(function.body):
            func = event.call.func
            is_backward = event.kind is EventKind.BACKWARD and not event.via and isinstance(func, Attribute)
            loss = func.value if is_backward and isinstance(func, Attribute) else None
            if isinstance(loss, Name) and loss.id in names and _is_scaled_elsewhere(facts, event.call, loss):
                yield Unscaled(region, event.call, True)
                break


def _is_always_on(facts: "Facts", region: Region) -> bool:
    """Whether a region is float16 whenever its function runs."""
    is_on = all(each.is_enabled is True for each in region.autocasts)
    is_half = region.dtypes == HALF and not (region.is_optional or region.is_inference)
    around = sides(facts, region.opening)
    return is_on and is_half and all(isinstance(side.choice.test, Constant) for side in around)  # `if True:`


def _is_scaled_elsewhere(facts: "Facts", backward: Call, loss: Name) -> bool:
    """Whether a test for a scaler stands around a backward, and the loss is scaled on its other side."""
    for side in sides(facts, backward):
        scaler = _absent(side)
        branch = side.choice
        if scaler is None or not isinstance(branch, If):
            continue
        other = branch.orelse if side.is_true else branch.body
        calls = (node for statement in other for node in walk(statement) if isinstance(node, Call) and node.args)
        if any(spelled(call.func) == f"{scaler}.scale" and spelled(call.args[0].value) == loss.id for call in calls):
            return True
    return False


def _absent(side: Side) -> str | None:
    """The name of which a side of a test says that it is None, or nothing."""
    test: Expr = side.choice.test
    is_there = True
    if isinstance(test, Compare) and test.ops in (("is",), ("is not",)) and is_none(test.comparators[0]):
        is_there, test = test.ops == ("is not",), test.left
    is_named = isinstance(test, Name | Attribute)
    return spelled(test) if is_named and is_there is not side.is_true else None
