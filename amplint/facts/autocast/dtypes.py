"""Which dtypes an expression may stand for; refuses to follow configuration files and strings."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.classes import PROPERTIES, method
from amplint.facts.program.origins import returns
from amplint.knowledge.training_api import DTYPES
from amplint.model.tree import Attribute, Call, Constant, Dict, Expr, Node, Subscript
from amplint.model.walks import is_of_self, last_name

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
        elif isinstance(node, Attribute) and depth and (kept := tuple(_of_object(origin.facts, node))):
            found = found.union(*(dtype_names(owner, value, depth - 1) for owner, value in kept))
        else:
            found.add(DTYPES.get(origin.facts.names.canonical(node) or "") if node is not None else None)
    return frozenset(found)


def _of_object(facts: "Facts", expr: Attribute) -> "Iterator[tuple[Facts, Expr]]":
    """What an attribute of an object in sight may be: what a property of its class returns, or what it is given."""
    own = facts.index.klass(expr) if is_of_self(expr) else None
    klass = (facts, own) if own is not None else facts.targets.klass(expr.value)
    found = method(*klass, expr.attr) if klass is not None else None
    if found is not None:
        is_property = any(last_name(each) in PROPERTIES for each in found[1].decorators)
        yield from ((found[0], value) for value in (returns(found[1]) if is_property else ()))
    elif klass is not None and own is None:
        for owner, given in klass[0].values.attribute(klass[1], expr.attr):
            if given.value is None or given.part is not None:
                return
            yield owner, given.value


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
