"""Walks over the nodes of a program, and small questions about one of them."""

from collections.abc import Iterator
from typing import TypeGuard

from amplint.model.node import fields
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Block,
    Call,
    ClassDef,
    Constant,
    Delete,
    Dict,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    Generator,
    Global,
    If,
    Lambda,
    List,
    MatchCase,
    Module,
    Name,
    NamedExpr,
    Node,
    Nonlocal,
    Return,
    Starred,
    Try,
    Tuple,
    TypeAlias,
    While,
    With,
    WithItem,
)

_SPANS = ("span", "name_span")
_WORDS = ("id", "attr", "star", "op", "ops", "kind", "module", "level", "asname", "captures", "text", "comments")
_FLAGS = ("is_async", "is_from", "is_star", "is_irrefutable", "is_own_line")
_LEAVES = frozenset((*_SPANS, *_WORDS, *_FLAGS))


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of each class of nodes that hold nodes, or tuples of them, worked out when first asked for."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        leaves = set(_LEAVES)
        if kind is Constant:
            leaves.add("value")
        if kind is not TypeAlias:
            leaves.add("name")
        if kind in (Global, Nonlocal):
            leaves.add("names")
        self[kind] = found = tuple(name for name in fields(kind) if name not in leaves)
        return found


_FIELDS = _Fields()


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order in which they are written (decorators of a definition come last)."""
    if node.kept_children is None:
        node.kept_children = tuple(_children(node))
    return node.kept_children


def _children(node: Node) -> list[Node]:
    below: list[Node] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name)
        if type(value) is tuple:
            below += value
        elif value is not None:
            below.append(value)
    if type(node) is Dict and None in node.keys:
        return [item for item in below if item is not None]
    return below


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents before children."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = current.kept_children
        stack += (children(current) if below is None else below)[::-1]


def own_nodes(function: Node) -> tuple[Node, ...]:
    """The nodes of the body of a function, lambda or module, in source order, without those of what it defines.

    Functions, classes and lambdas defined in it are among them, what is inside them is not.
    """
    if function.kept_own is None:
        body = getattr(function, "body", ())
        found: list[Node] = []
        stack: list[Node] = list(reversed(body)) if isinstance(body, tuple) else [body]
        while stack:
            node = stack.pop()
            found.append(node)
            if type(node) not in _BODIES:
                stack += children(node)[::-1]
        function.kept_own = tuple(found)
    return function.kept_own


_BODIES = frozenset({FunctionDef, ClassDef, Lambda})


def blocks(node: Node | None) -> tuple[Block, ...]:
    """The blocks of statements that a node holds itself, in source order; those of handlers and cases are theirs."""
    match node:
        case Try():
            return node.body, node.orelse, node.finalbody
        case If() | For() | While():
            return node.body, node.orelse
        case With() | FunctionDef() | ClassDef() | ExceptHandler() | MatchCase() | Module():
            return (node.body,)
        case _:
            return ()


def targets(node: Node | None) -> tuple[Expr, ...]:
    """What a node binds or deletes, as it is written; names that it only has as text (`def`, `import`) are none."""
    match node:
        case Assign() | Delete():
            return node.targets
        case AnnAssign() | AugAssign() | NamedExpr() | For() | Generator():
            return (node.target,)
        case WithItem():
            return (node.target,) if node.target is not None else ()
        case _:
            return ()


def assigned_value(node: Node | None) -> Expr | None:
    """The right side of an assignment, or of `+=` and the like; None for everything else."""
    return node.value if isinstance(node, Assign | AnnAssign | AugAssign | NamedExpr) else None


def own_returns(function: FunctionDef) -> tuple[Return, ...]:
    """The `return`s of a function, in source order, without those of what it defines."""
    if function.kept_returns is None:
        function.kept_returns = tuple([node for node in own_nodes(function) if type(node) is Return])
    return function.kept_returns


def own_calls(function: FunctionDef | Lambda | Module) -> tuple[Call, ...]:
    """The calls in the body of a function, lambda or module, in source order, without those of what it defines."""
    if function.kept_calls is None:
        function.kept_calls = tuple([node for node in own_nodes(function) if type(node) is Call])
    return function.kept_calls


def dotted(node: Node) -> str | None:
    """`a.b.c` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while type(node) is Attribute:
        parts.append(node.attr)
        node = node.value
    if type(node) is not Name:
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def last_name(node: Node) -> str:
    """`c` of `a.b.c`, also where `a` is no name; `a` of a name alone; '' for others."""
    return node.attr if type(node) is Attribute else node.id if type(node) is Name else ""


def root_of(node: Node) -> Name | None:
    """The `a` of `a.b.c`, None where the chain does not begin with a name."""
    while type(node) is Attribute:
        node = node.value
    return node if type(node) is Name else None


def is_of_self(node: Node | None) -> TypeGuard[Attribute]:
    """Whether an expression is `self.x`, an attribute of the instance under its usual name."""
    return isinstance(node, Attribute) and isinstance(node.value, Name) and node.value.id == "self"


def element(display: Node | None, key: object) -> Expr | None:
    """What a tuple or list holds at a place counted from 0, or a dictionary under a key; None where that is not known.

    A `**` in a dictionary is taken to hold other keys.
    """
    match display:
        case Tuple() | List() if isinstance(key, int) and 0 <= key < len(display.elts):
            is_certain = not any(isinstance(each, Starred) for each in display.elts[: key + 1])
            return display.elts[key] if is_certain else None
        case Dict():
            pairs = zip(display.keys[::-1], display.values[::-1], strict=True)
            return next((value for each, value in pairs if isinstance(each, Constant) and each.value == key), None)
        case _:
            return None


def is_none(node: Node | None) -> bool:
    """Whether an expression is a written `None`; nothing written is none."""
    return isinstance(node, Constant) and node.value is None
