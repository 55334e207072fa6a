"""Whether a loop makes one thing for each place of a collection, instead of one thing again and again."""

from typing import TYPE_CHECKING

from amplint.flow.writes import TAKING_IN
from amplint.model.tree import Assign, Attribute, Call, ExprStmt, For, Name, Subscript, While
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def fills_a_place(facts: "Facts", call: Call, loop: For | While) -> bool:
    """Whether each turn of a loop makes a scaler for a place of its own: `scalers[name] = …`, `scalers.append(…)`."""
    statement = facts.index.statement(call)
    taken = {node.id for node in walk(loop.target) if isinstance(node, Name)} if isinstance(loop, For) else set()
    match statement:
        case Assign(targets=(Subscript(index=index), *_)):
            return any(isinstance(node, Name) and node.id in taken for node in walk(index))
        case ExprStmt(value=Call(func=Attribute(attr=method))):
            return method in TAKING_IN and statement.value is not call
        case _:
            return False
