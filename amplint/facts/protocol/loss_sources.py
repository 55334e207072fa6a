"""Where the value of a loss comes from: what its names were given, what functions return, gradients that went in.

Knows expressions; which of them carry a scale on some path is for `losses.py`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.classes import lookup_order
from amplint.facts.program.index import Index
from amplint.facts.program.origins import returns
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    ClassDef,
    Comprehension,
    Expr,
    For,
    FunctionDef,
    Generator,
    List,
    Name,
    Node,
    Starred,
    Tuple,
)
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def reads_gradient(value: Node) -> bool:
    """Whether a `.grad` is part of a value; `torch.autograd.grad(…)` is a function."""
    nodes = list(walk(value))
    called = {id(node.func) for node in nodes if isinstance(node, Call)}
    return any(isinstance(node, Attribute) and node.attr == "grad" and id(node) not in called for node in nodes)


def may_scale(value: Node) -> bool:
    """Whether a value comes from a call that may scale: one named so, or one that is handed a scaler's `scale`."""
    nodes = list(walk(value))
    callees = (node.func for node in nodes if isinstance(node, Call))
    names = [f.attr if isinstance(f, Attribute) else f.id for f in callees if isinstance(f, Attribute | Name)]
    handed = (node.attr for node in nodes if isinstance(node, Attribute) and node.attr == "scale")
    return any("scale" in name.lower() for name in (*names, *handed))


def comes_from(home: "Facts", node: Node) -> "Iterator[tuple[Facts, Node]]":
    """What a local name was given, and what a function in sight returns to a call."""
    match node:
        case Name():
            for binding in home.names.lookup(node.id, node):
                if isinstance(binding.scope, FunctionDef | Comprehension):
                    yield from ((home, source) for source in given(home.index, binding))
        case Call() if (callee := home.targets.function(node)) is not None:
            yield from ((callee[0], value) for value in returns(callee[1]))
        case _:
            pass


def given(index: Index, binding: Binding) -> Iterator[Node]:
    """What a binding takes its value from: what is assigned, or what a loop goes through."""
    if binding.value is not None:
        yield binding.value
        return
    around: Node | None = binding.node
    while isinstance(around, Name | Tuple | List | Starred):
        around = index.parents.get(around)
    if isinstance(around, For | Generator):
        yield around.iter
    elif isinstance(around, Assign):
        yield around.value


def unpacked_from(facts: "Facts", klass: ClassDef, attribute: str) -> Iterator[Expr | None]:
    """The calls whose value is unpacked to an attribute of self, None for what is no call."""
    for owner, current in lookup_order(facts, klass):
        for node in owner.index.each(Assign):
            if owner.index.klass(node) is current and any(_has_part(target, attribute) for target in node.targets):
                yield node.value if isinstance(node.value, Call) else None


def _has_part(target: Expr, attribute: str) -> bool:
    return isinstance(target, Tuple | List) and any(
        isinstance(part, Attribute) and part.attr == attribute for part in target.elts
    )
