"""What is inside the things that expressions make: fields that a record's constructor is given.

Knows records by their annotated fields and the lack of a constructor of their own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callers import calls_of
from amplint.model.tree import (
    AnnAssign,
    Argument,
    Call,
    ClassDef,
    Constant,
    Expr,
    FunctionDef,
    Lambda,
    List,
    Name,
    Tuple,
)
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def fields(klass: ClassDef) -> list[str]:
    """The fields of a record class, in order; none where it has a constructor of its own."""
    if any(isinstance(statement, FunctionDef) and statement.name == "__init__" for statement in klass.body):
        return []
    targets = (statement.target for statement in klass.body if isinstance(statement, AnnAssign))
    return [target.id for target in targets if isinstance(target, Name)]


def named_fields(made: Expr | None) -> list[str]:
    """The fields of `namedtuple("Output", "loss logits")`, in order; none of anything else."""
    if not isinstance(made, Call) or last_name(made.func) != "namedtuple" or len(made.args) != len(("name", "fields")):
        return []
    match made.args[1].value:
        case Constant(value=str(text)):
            return text.replace(",", " ").split()
        case List(elts=parts) | Tuple(elts=parts):
            return [str(part.value) for part in parts if isinstance(part, Constant)]
        case _:
            return []


def field_given(call: Call, order: list[str], name: str) -> Expr | None:
    """What a call of a record's class gives a field: by keyword, or by its place in the order."""
    given = next((argument.value for argument in call.args if argument.name == name), None)
    if given is not None or name not in order:
        return given
    place = order.index(name)
    before: tuple[Argument, ...] = call.args[: place + 1]
    is_plain = place < len(call.args) and all(argument.name is None and not argument.star for argument in before)
    return call.args[place].value if is_plain else None


def field_values(facts: "Facts", klass: ClassDef, name: str) -> "Iterator[tuple[Facts, Expr]]":
    """What the visible calls of a record's class give a field."""
    order = fields(klass)
    for caller, call in calls_of(facts, klass) if name in order else ():
        given = field_given(call, order, name)
        if given is not None:
            yield caller, given


def made_by_factory(value: Expr | None) -> Expr | None:
    """What `field(default_factory=lambda: …)` makes, or the value itself."""
    if isinstance(value, Call) and last_name(value.func) == "field":
        factory = next((argument.value for argument in value.args if argument.name == "default_factory"), None)
        return factory.body if isinstance(factory, Lambda) else value
    return value
