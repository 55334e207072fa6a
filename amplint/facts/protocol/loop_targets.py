"""Where the targets of a loop stand in what it goes through: parts of pairs and tuples, arguments of `zip`.

Knows how loops are written; follows no values.
"""

from collections.abc import Callable

from amplint.model.tree import Call, Expr, List, Name, Node, Tuple
from amplint.model.walks import dotted, last_name


def path_to(target: Expr, is_it: Callable[[Node], bool]) -> tuple[int, ...] | None:
    """Where a target stands in the tuples of a loop's target, from outside inwards; () where it is all of it."""
    if not isinstance(target, Tuple | List):
        return () if is_it(target) else None
    for place, part in enumerate(target.elts):
        inner = path_to(part, is_it)
        if inner is not None:
            return (place, *inner)
    return None


def zipped(target: Expr, source: Expr, name: str) -> Expr:
    """The part of `zip(a, b)` that a target's name goes through."""
    if isinstance(source, Call) and dotted(source.func) == "zip" and isinstance(target, Tuple | List):
        for part, argument in zip(target.elts, source.args, strict=False):
            if isinstance(part, Name) and part.id == name:
                return argument.value
    return source


def parts_of(target: Expr, source: Expr, name: str) -> tuple[int, ...]:
    """Where a name stands in the tuples that a loop goes through, from outside inwards; () where it is all of one."""
    path = path_to(target, lambda part: isinstance(part, Name) and part.id == name) or ()
    is_paired = isinstance(source, Call) and last_name(source.func) in ("enumerate", "items")
    return path[1:] if is_paired and path[:1] == (1,) else () if is_paired else path
