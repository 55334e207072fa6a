"""What the constants that one call passes, or leaves to defaults, say of the branches of its function.

Knows tests of one parameter that nothing else is assigned to; refuses to compute.
"""

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.branches import sides
from amplint.facts.program.callers import bind
from amplint.facts.program.origins import returns
from amplint.model.tree import Call, ClassDef, Compare, Constant, Expr, FunctionDef, Name, Node, Unary

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

COMPARED: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "is": lambda one, other: one is other,
    "is not": lambda one, other: one is not other,
}
ORDERED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def may_run(facts: "Facts", function: FunctionDef, call: Call, place: Node) -> bool:
    """Whether a place of a function of a module may run in one call of it; surely so where a decorator is around it."""
    if function.decorators:
        return True
    given = bind(function, call, has_self=isinstance(facts.index.parents.get(function), ClassDef))
    values: dict[str, Expr | None] = {
        parameter.name: given.get(parameter.name, parameter.default) for parameter in function.parameters
    }
    for side in sides(facts, place):
        if facts.index.function(side.choice) is function:
            answer = _truth(facts, side.choice.test, values)
            if answer is not None and answer is not side.is_true:
                return False
    return True


def given_back(facts: "Facts", function: FunctionDef, call: Call) -> Iterator[Expr]:
    """What a function may return to one call of it."""
    return (value for value in returns(function) if may_run(facts, function, call, value))


def _truth(facts: "Facts", test: Expr, values: dict[str, Expr | None]) -> bool | None:
    match test:
        case Unary(op="not"):
            answer = _truth(facts, test.operand, values)
            return None if answer is None else not answer
        case Name():
            found = _constant(facts, test, values)
            return None if found is None else bool(found.value)
        case Compare(ops=(op,), comparators=(Constant() as other,)):
            found = _constant(facts, test.left, values)
            return None if found is None else _compared(op, found.value, other.value)
        case _:
            return None


def _compared(op: str, one: object, other: object) -> bool | None:
    if op in COMPARED:
        return COMPARED[op](one, other)
    are_numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return ORDERED[op](one, other) if op in ORDERED and are_numbers else None  # type: ignore[arg-type]


def _constant(facts: "Facts", expr: Expr, values: dict[str, Expr | None]) -> Constant | None:
    """The constant that a parameter stands for, where it is the only binding of its name."""
    if not isinstance(expr, Name):
        return None
    bindings = facts.names.lookup(expr.id, expr)
    found = values.get(expr.id)
    is_sole = len(bindings) == 1 and bindings[0].kind == "parameter"
    return found if is_sole and isinstance(found, Constant) else None
