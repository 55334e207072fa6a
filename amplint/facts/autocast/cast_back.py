"""Models in float16 of which those parameters become float32 that are trained: `p.data = p.data.float()` in a loop.

Knows one module; does not ask which parameters of a model a loop picks.
"""

from typing import TYPE_CHECKING

from amplint.facts.autocast.dtypes import dtype_names
from amplint.facts.program.spelling import spelled
from amplint.model.tree import Assign, Attribute, Call, Expr, For
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

PARAMETERS = ("parameters", "named_parameters")


def casts_back(facts: "Facts", model: Expr) -> bool:
    """Whether a loop over the parameters of a model casts the data of some to float32."""
    name = spelled(model)
    return any(
        _is_float32(facts, statement.value)
        and any(isinstance(target, Attribute) and target.attr == "data" for target in statement.targets)
        and any(isinstance(loop, For) and _goes_through(loop.iter, name) for loop in facts.index.loops(statement))
        for statement in facts.index.each(Assign)
    )


def _is_float32(facts: "Facts", value: Expr) -> bool:
    if not isinstance(value, Call) or not isinstance(value.func, Attribute):
        return False
    if value.func.attr == "float":
        return True
    given = [dtype_names(facts, argument.value) for argument in value.args]
    return value.func.attr in ("to", "type") and frozenset({"float32"}) in given


def _goes_through(source: Expr, model: str) -> bool:
    """Whether a loop goes through the parameters of a model."""
    return any(
        isinstance(node, Attribute) and node.attr in PARAMETERS and spelled(node.value) == model
        for node in walk(source)
    )
