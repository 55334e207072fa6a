"""Whether a function calculates with the loss scale itself, so that what it does to gradients may be right by hand.

Knows where the number goes; refuses to check the arithmetic.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.tree import Argument, Assign, AugAssign, Binary, Call, FunctionDef, Lambda, Module, Name, Node
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Calls that show a number, compare it or change its type.
SHOWING = frozenset({"print", "log", "info", "debug", "warning", "add_scalar", "append", "update", "format", "write"})
CASTING = frozenset({"float", "int", "str", "round", "min", "max", "len", "isinstance"})


def calculates_with_scale(home: "Facts", function: FunctionDef | Lambda | Module) -> bool:
    """Whether a function multiplies or divides by the scale, or hands it to something that may."""
    return any(_is_calculated_with(home, node) for node in _scales(home, function))


def hands_scale(home: "Facts", function: FunctionDef | Lambda | Module, call: Call) -> bool:
    """Whether a call of a function is given the scale, or something that is calculated with it."""
    scales = set(map(id, _scales(home, function)))
    return any(id(node) in scales for argument in call.args for node in walk(argument.value))


def _scales(home: "Facts", function: FunctionDef | Lambda | Module) -> Iterator[Node]:
    """Where a function has the scale: the calls that ask for it, and the names of what they gave."""
    nodes = list(own_nodes(function))
    asked = [node for node in nodes if isinstance(node, Call) and last_name(node.func) == "get_scale"]
    names = {name for call in asked for name in _names_of(home, call)}
    yield from asked
    yield from (node for node in nodes if isinstance(node, Name) and node.id in names)


def _names_of(home: "Facts", call: Call) -> Iterator[str]:
    around = home.index.parents.get(call)
    if isinstance(around, Assign):
        yield from (target.id for target in around.targets if isinstance(target, Name))


def _is_calculated_with(home: "Facts", node: Node) -> bool:
    around = home.index.parents.get(node)
    if isinstance(around, Binary):
        return around.op in "*/"
    if isinstance(around, AugAssign):
        return around.value is node and around.op in "*/"
    call = home.index.parents.get(around) if isinstance(around, Argument) else None
    return isinstance(call, Call) and last_name(call.func) not in SHOWING | CASTING
