"""Whether a function calculates with the loss scale itself, so that what it does to gradients may be right by hand.

Knows where the number goes; refuses to check the arithmetic.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.tree import (
    Argument,
    Assert,
    Assign,
    Attribute,
    AugAssign,
    Binary,
    Call,
    Compare,
    Comprehension,
    Constant,
    Expr,
    ExprStmt,
    FunctionDef,
    Generator,
    If,
    IfExp,
    JoinedString,
    Lambda,
    List,
    Module,
    Name,
    Node,
    Subscript,
    Tuple,
    Unary,
    While,
)
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Calls that show a number, compare it or change its type.
SHOWING = frozenset({"print", "log", "info", "debug", "warning", "add_scalar", "append", "update", "format", "write"})
CASTING = frozenset({"float", "int", "str", "round", "min", "max", "len", "isinstance"})
MOST_NAMES = 12
# Around these a value is part of another one, which is looked at in its place.
WHOLE = (Binary, Unary, IfExp, List, Tuple, Comprehension, JoinedString)
# Modules whose functions change nothing that they are given, if their names do not say so.
CALCULATING = ("torch.", "math.", "numpy.")


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


def may_apply_scale(home: "Facts", function: FunctionDef | Lambda | Module) -> bool:
    """Whether a calculation with the scale may change gradients, a loss or a limit: not only a number shown."""
    if not calculates_with_scale(home, function):
        return False
    nodes = list(walk(function))
    pending: list[Node] = [node for node in nodes if isinstance(node, Call) and last_name(node.func) == "get_scale"]
    known: set[str] = set()
    while pending:
        found = _becomes(home, pending.pop())
        if found is None or len(known) > MOST_NAMES:
            return True
        new = found - known
        known |= new
        pending += [n for n in nodes if isinstance(n, Name) and n.id in new and not home.index.is_target(n)]
    return False


def _becomes(home: "Facts", node: Node) -> frozenset[str] | None:
    """The names that hold what is calculated with a number; None where it may change something that trains."""
    parents = home.index.parents
    around = parents.get(node)
    while True:
        match around:
            case Attribute() if around.value is node and isinstance(call := parents.get(around), Call):
                if around.attr.endswith("_") or around.attr == "backward":
                    return None
                node = call
            case Argument() if isinstance(call := parents.get(around), Call):
                name = last_name(call.func)
                if name in SHOWING:
                    return frozenset()
                if name not in CASTING and not _only_calculates(home, call.func, name):
                    return None
                node = call
            case Assign():
                return _named(around.targets)
            case Generator() if around.iter is node:
                return _named((around.target,))
            case AugAssign() if around.value is node and around.op in ("+", "-"):
                return _named((around.target,))
            case Compare() | ExprStmt() | Assert() | If() | While():
                return frozenset()
            case _ if isinstance(around, WHOLE):
                node = around
            case _:
                return None
        around = parents.get(node)


def _only_calculates(home: "Facts", func: Expr, name: str) -> bool:
    canonical = home.names.canonical(func) or ""
    return canonical.startswith(CALCULATING) and not name.endswith("_") and "clip" not in name


def _named(targets: tuple[Expr, ...]) -> frozenset[str] | None:
    """The names among some targets, none for an entry of a record; None where something else is assigned."""
    entry = (isinstance(t, Subscript) and isinstance(t.value, Name) and isinstance(t.index, Constant) for t in targets)
    is_plain = all(isinstance(target, Name) or is_entry for target, is_entry in zip(targets, entry, strict=True))
    return frozenset(target.id for target in targets if isinstance(target, Name)) if is_plain else None
