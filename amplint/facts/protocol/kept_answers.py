"""What an attribute or a name that a test asks stands for: a property, the one calculation assigned to it, a flag.

Knows the class of the object that is asked; refuses to choose where several values may be meant.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from amplint.facts.program.callees import is_abstract
from amplint.facts.program.classes import PROPERTIES, assigned, method
from amplint.facts.program.values import Given
from amplint.facts.protocol.scene import Scene
from amplint.flow.terms import sole_return
from amplint.model.tree import (
    Attribute,
    Binary,
    BoolOp,
    Call,
    ClassDef,
    Compare,
    Constant,
    Expr,
    FunctionDef,
    If,
    Node,
    Subscript,
    Unary,
)
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def kept_answer(scene: Scene, expr: Attribute, frame: int) -> Expr | None:
    """The calculation behind an attribute; None where there is none, or more than one."""
    klass = scene.callees.klass_of(expr.value, frame, scene.frames)
    if klass is None:
        return None
    found = method(*klass, expr.attr)
    if found is not None:
        return _given_by(found[1])
    told: list[Expr] = []
    for owner, value in assigned(*klass, expr.attr):
        if not isinstance(value, Compare | BoolOp | Unary | Binary) and not is_first(owner, value):
            return None
        told += [value] if value is not None and not isinstance(value, Constant) else []
    return told[0] if len(told) == 1 else None


def _given_by(function: FunctionDef) -> Expr | None:
    is_property = any(last_name(decorator) in PROPERTIES for decorator in function.decorators)
    return sole_return(function) if is_property and not is_abstract(function) else None


def is_first(owner: "Facts", value: Expr | None) -> bool:
    """Whether a value is the constant that an attribute has before any calculation."""
    if not isinstance(value, Constant):
        return False
    function = owner.index.function(value)
    return not isinstance(function, FunctionDef) or (
        function.name == "__init__" and isinstance(owner.index.parents.get(function), ClassDef)
    )


def part_of_divmod(given: Given) -> Expr | None:
    """The part of a `divmod` that a name is unpacked from."""
    if given.part is None or not isinstance(given.value, Call) or last_name(given.value.func) != "divmod":
        return None
    return Subscript(given.value.span, given.value, Constant(given.value.span, given.part))


def flag(first: Expr, second: Expr, parents: Mapping[Node, Node]) -> Expr | None:
    """`flag = True`, then `if test: flag = False`: what the flag says is that the test said no; and the other way."""
    if not isinstance(first, Constant) or not isinstance(second, Constant):
        return None
    assignment = parents.get(second)
    around = parents.get(assignment) if assignment is not None else None
    if not isinstance(around, If) or around.orelse or around.body != (assignment,):
        return None
    match first.value, second.value:
        case False, True:
            return around.test
        case True, False:
            return Unary(around.test.span, "not", around.test)
        case _:
            return None
