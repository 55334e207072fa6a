"""Which values of a training loop are on the host when they are read: a batch before it is moved, a copy of a result.

Refuses to know on which device a loader leaves what nothing in the loop moves.
"""

import re
from collections.abc import Iterator

from amplint.model.tree import Argument, Assign, Attribute, Call, Constant, Expr, For, Name, Node, While
from amplint.model.walks import children, last_name, walk

FETCHES = frozenset({"item", "tolist", "numpy", "cpu"})
_MOVES = frozenset({"to", "cuda"})
_DEVICE = re.compile(r"dev|cuda|gpu|rank", re.IGNORECASE)


# How many expressions one question may look at; beyond that it is not known to be on the host.
_MOST = 200


class HostValues:
    """What is on the host in one training loop."""

    def __init__(self, loop: For | While) -> None:
        self._left = 0
        self._assigned = [node for s in loop.body for node in walk(s) if isinstance(node, Assign)]

    def holds(self, expr: Expr, at: Node) -> bool:
        """Whether all that an expression is computed from is on the host at a node of the loop."""
        self._left = _MOST
        return self._is_here(expr, at, frozenset())

    def _is_here(self, expr: Expr, at: Node, seen: frozenset[str]) -> bool:
        self._left -= 1
        if self._left < 0 or _calls_one_of(expr, _MOVES):
            return False
        if _is_fetched(expr):
            return True
        names = [node for node in _values(expr) if node.id not in seen]
        return bool(names) and all(self._is_name_here(node.id, at, seen | {node.id}) for node in names)

    def _is_name_here(self, name: str, at: Node, seen: frozenset[str]) -> bool:
        given = [each for each in self._assigned if _binds(each, name)]
        before = [each for each in given if each.span.end <= at.span.start]
        if any(_moves(each.value, name) for each in given if each.span.start >= at.span.end):
            return not any(_moves(each.value, name) for each in before)
        return bool(before) and self._is_here(before[-1].value, before[-1], seen)


def _values(expr: Expr) -> Iterator[Name]:
    """The names whose values an expression is computed from, without those that are only called."""
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Name):
            yield node
        elif isinstance(node, Call) and isinstance(node.func, Name):
            stack.extend(argument.value for argument in node.args)
        else:
            stack.extend(children(node))


def _is_fetched(expr: Expr) -> bool:
    """Whether an expression is what `.cpu()` or the like gives, or a method of that."""
    while isinstance(expr, Call) and isinstance(expr.func, Attribute):
        if expr.func.attr in FETCHES:
            return True
        expr = expr.func.value
    return False


def _calls_one_of(expr: Expr, names: frozenset[str]) -> bool:
    return any(isinstance(n, Call) and isinstance(n.func, Attribute) and n.func.attr in names for n in walk(expr))


def _binds(assignment: Assign, name: str) -> bool:
    return any(isinstance(node, Name) and node.id == name for t in assignment.targets for node in walk(t))


def _is_device(argument: Argument) -> bool:
    value = argument.value
    text = value.value if isinstance(value, Constant) else last_name(value)
    return isinstance(text, str) and bool(_DEVICE.search(text))


def _moves(value: Expr, name: str) -> bool:
    """Whether a value moves what a name holds to the device."""
    for node in walk(value):
        match node:
            case Call(func=Attribute(value=Name(id=held), attr=method), args=given) if held == name:
                if method == "cuda" or (method == "to" and any(map(_is_device, given))):
                    return True
    return False
