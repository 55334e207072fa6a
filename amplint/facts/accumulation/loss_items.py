"""Where losses come from that a loop or a comprehension takes one by one, and what a collection of them is made of.

Knows how such code is written; follows no names and no calls.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from amplint.facts.accumulation.returned_parts import parts_of
from amplint.facts.protocol.loop_targets import path_to
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    Comprehension,
    Expr,
    FunctionDef,
    Name,
    Node,
    Subscript,
    Yield,
)
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# What hands on what it goes through.
PASSING_ON = frozenset({"tqdm", "iter", "list", "tuple", "reversed", "progress"})


def source_of(target: Expr, source: Expr, is_it: Callable[[Node], bool]) -> tuple[Expr | None, int | None]:
    """What a loop goes through by one of its targets, and which part of each item that is; None where it takes none."""
    path = path_to(target, is_it)
    while path is not None and isinstance(source, Call) and source.args:
        name, first = last_name(source.func), source.args[0].value
        if name == "enumerate" and path[:1] == (1,):
            path, source = path[1:], first
        elif name == "zip" and path and path[0] < len(source.args):
            path, source = path[1:], source.args[path[0]].value
        elif name in PASSING_ON:
            source = first
        else:
            break
    if path is None or len(path) > 1:
        return None, None
    return source, path[0] if path else None


def comprised(expr: Comprehension) -> Iterator[Expr]:
    """What the items of a comprehension are: its element, and what the names in that are taken from."""
    element = expr.value or expr.element
    yield element
    names = {node.id for node in walk(element) if isinstance(node, Name)}
    for generator in expr.generators:
        taken = (node.id for node in walk(generator.target) if isinstance(node, Name))
        if not names.isdisjoint(taken):
            yield generator.iter


def yielded(home: "Facts", function: FunctionDef, part: int | None) -> Iterator[Expr]:
    """What a generator yields, or that part of it."""
    for node in own_nodes(function):
        if isinstance(node, Yield) and node.value is not None:
            yield from (node.value,) if part is None else parts_of(home, node.value, part)


def put_in(home: "Facts", name: Name) -> Iterator[Expr | None]:
    """What a function puts into a collection of its own under keys, or at its end; None for what cannot be told."""
    function = home.index.function(name)
    for node in own_nodes(function) if function is not None else ():
        match node:
            case Assign(targets=(Subscript(value=Name(id=holder)),), value=value) if holder == name.id:
                yield value
            case Call(func=Attribute(attr="append", value=Name(id=holder)), args=(added,)) if holder == name.id:
                yield added.value
            case Call(func=Attribute(attr="update" | "extend", value=Name(id=holder))) if holder == name.id:
                yield None
            case _:
                pass
