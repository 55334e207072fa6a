"""The parts of what a function returns: elements of tuples, values of dictionaries, fields of records.

Reads displays, calls that make a record, and what is put under a key later; anything else has no part that is known.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.classes import seen_class
from amplint.facts.program.records import field_given, fields, named_fields
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    Constant,
    Dict,
    Expr,
    IfExp,
    List,
    Name,
    Subscript,
    Tuple,
)
from amplint.model.walks import element, last_name, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Which part: an element of a tuple by its place, a value of a mapping or a field of a record by its name.
Part = int | str
MAPPINGS = frozenset({"dict", "OrderedDict", "EasyDict", "Namespace", "SimpleNamespace"})


def parts_of(home: "Facts", value: Expr, part: Part, depth: int = 3) -> Iterator[Expr]:
    """What a value may have as a part, nothing where that cannot be told."""
    match value:
        case IfExp() if depth:
            yield from parts_of(home, value.body, part, depth - 1)
            yield from parts_of(home, value.orelse, part, depth - 1)
        case Tuple() | List() | Dict():
            found = element(value, part)
            if found is not None:
                yield found
        case Call() if isinstance(part, str):
            yield from _fields(home, value, part)
        case Name() if depth:
            yield from _held(home, value, part, depth - 1)
        case _:
            pass


def _held(home: "Facts", name: Name, part: Part, depth: int) -> Iterator[Expr]:
    """The part of what a local name holds, and what is put there under the name of the part."""
    values = [each.value for each in home.names.lookup(name.id, name) if each.value is not None]
    given = [list(parts_of(home, value, part, depth)) for value in values]
    # What was made anew of something (`losses = {k: v / n for k, v in losses.items()}`) is not what it was before.
    if len(values) > 1 and not all(parts or _is_empty(value) for parts, value in zip(given, values, strict=True)):
        return
    yield from (each for parts in given for each in parts)
    function = home.index.function(name)
    for node in own_nodes(function) if function is not None and isinstance(part, str) else ():
        for target in node.targets if isinstance(node, Assign) else ():
            if _is_part(target, name.id, part):
                assert isinstance(node, Assign)
                yield node.value


def _is_empty(value: Expr) -> bool:
    """Whether a value has no parts yet: `None`, `{}`, `dict()`."""
    match value:
        case Constant():
            return True
        case Dict(values=parts) | List(elts=parts) | Tuple(elts=parts):
            return not parts
        case Call():
            return last_name(value.func) in MAPPINGS and not value.args
        case _:
            return False


def _is_part(target: Expr, name: str, part: Part) -> bool:
    match target:
        case Subscript(value=Name(id=holder), index=Constant(value=key)):
            return holder == name and key == part
        case Attribute(value=Name(id=holder), attr=attribute):
            return holder == name and attribute == part
        case _:
            return False


def _fields(home: "Facts", call: Call, part: str) -> Iterator[Expr]:
    """What a call that makes a mapping or a record gives a field: by keyword, or in the order of its class."""
    name = last_name(call.func)
    if not (name in MAPPINGS or name[:1].isupper()):
        return
    given = field_given(call, _order(home, call.func), part)
    if given is not None:
        yield given


def _order(home: "Facts", func: Expr) -> list[str]:
    """The fields of a record class in sight that has no constructor of its own."""
    klass = seen_class(home, home.names.canonical(func))
    if klass is not None:
        return fields(klass[1])
    found = home.names.lookup(func.id, func) if isinstance(func, Name) else ()
    return named_fields(found[0].value) if len(found) == 1 else []
