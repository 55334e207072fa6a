"""Which dtypes an expression may stand for; refuses to follow configuration files and strings."""

from typing import TYPE_CHECKING

from amplint.knowledge.training_api import DTYPES
from amplint.model.tree import Attribute, Call, Constant, Dict, Expr, Node, Subscript

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def dtype_names(facts: "Facts", expr: Node, depth: int = 4) -> frozenset[str | None]:
    """The names of the dtypes that a value may be: 'float16', 'bfloat16', …; None stands for one that is not known."""
    found: set[str | None] = set()
    for origin in facts.values.origins(expr):
        node = origin.node
        if isinstance(node, Subscript) and depth:
            found |= _of_table(origin.facts, node.value, depth)
        elif isinstance(node, Call) and depth and isinstance(node.func, Attribute) and node.func.attr == "get":
            found |= _of_table(origin.facts, node.func.value, depth)
        else:
            found.add(DTYPES.get(origin.facts.names.canonical(node) or "") if node is not None else None)
    return frozenset(found)


def _of_table(facts: "Facts", table: Expr, depth: int) -> set[str | None]:
    found: set[str | None] = set()
    for origin in facts.values.origins(table):
        node = origin.node
        if isinstance(node, Dict):
            values = node.values
        elif isinstance(node, Call) and origin.facts.names.canonical(node.func) == "builtins.dict":
            values = tuple(argument.value for argument in node.args)
        else:
            return {None}
        for value in values:
            if not (isinstance(value, Constant) and value.value is None):
                found |= dtype_names(origin.facts, value, depth - 1)
    return found or {None}
