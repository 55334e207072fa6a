"""Classes as a program sees them: bases across files, methods by lookup order, what is assigned to attributes of self.

Knows nothing of what an instance is for.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    Call,
    ClassDef,
    Constant,
    Expr,
    ExprStmt,
    FunctionDef,
    Name,
    Node,
    Return,
    Tuple,
)
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST_BASES = 12
PROPERTIES = frozenset({"property", "cached_property"})


def seen_class(facts: "Facts", name: str | None) -> "tuple[Facts, ClassDef] | None":
    """The class in sight that a canonical dotted name stands for."""
    found = facts.definition(name) if name is not None else None
    return (found[0], found[1]) if found is not None and isinstance(found[1], ClassDef) else None


def class_made(facts: "Facts", value: Node | None) -> "tuple[Facts, ClassDef] | None":
    """The class in sight that a value is an instance of, where it is a call of that class by its name."""
    return seen_class(facts, facts.names.canonical(value.func)) if isinstance(value, Call) else None


def lookup_order(facts: "Facts", klass: ClassDef) -> tuple["tuple[Facts, ClassDef]", ...]:
    """The class and the bases of it that are seen, depth first from left to right."""
    if klass not in facts.lookup_orders:
        facts.lookup_orders[klass] = _lookup_order(facts, klass)
    return facts.lookup_orders[klass]


def _lookup_order(facts: "Facts", klass: ClassDef) -> tuple["tuple[Facts, ClassDef]", ...]:
    found: list[tuple[Facts, ClassDef]] = []
    pending = [(facts, klass)]
    while pending and len(found) < MOST_BASES:
        owner, current = pending.pop(0)
        if any(current is known for _, known in found):
            continue
        found.append((owner, current))
        bases = (_base(owner, each.value) for each in current.bases if each.name is None)
        pending[:0] = [base for base in bases if base is not None]
    return tuple(found)


def base_names(facts: "Facts", klass: ClassDef) -> Iterator[str]:
    """The dotted names of all bases, seen or not."""
    for owner, current in lookup_order(facts, klass):
        for base in current.bases:
            if base.name is None:
                yield from owner.names.meaning(base.value).names


def method(
    facts: "Facts", klass: ClassDef, name: str, after: ClassDef | None = None
) -> "tuple[Facts, FunctionDef] | None":
    """The function that a method name finds; after: only behind this class in the lookup order, as `super()` does."""
    order = lookup_order(facts, klass)
    if after is not None:
        places = [place for place, (_, known) in enumerate(order) if known is after]
        order = order[places[0] + 1 :] if places else ()
    for owner, current in order:
        for statement in reversed(current.body):
            if isinstance(statement, FunctionDef) and statement.name == name:
                return owner, statement
    return None


def handing_on(facts: "Facts", klass: ClassDef) -> Iterator[tuple[str, str]]:
    """The properties of a class and its bases that do nothing but return another attribute of self, with that one."""
    for _, current in lookup_order(facts, klass):
        for statement in current.body:
            if not isinstance(statement, FunctionDef) or not statement.decorators or not statement.body:
                continue
            match statement.body[-1]:
                case Return(value=Attribute(value=Name(id="self"), attr=attribute)) if _is_property(statement):
                    yield statement.name, attribute


def _is_property(function: FunctionDef) -> bool:
    """Whether a function is a property whose body is one statement, a docstring aside."""
    is_bare = all(isinstance(s, ExprStmt) and isinstance(s.value, Constant) for s in function.body[:-1])
    return is_bare and any(isinstance(each, Name) and each.id == "property" for each in function.decorators)


def assigned(facts: "Facts", klass: ClassDef, attribute: str) -> "Iterator[tuple[Facts, Expr | None]]":
    """What methods of the class and its bases, or their class bodies, assign to an attribute of the instance.

    None where the value cannot be told (unpacking, augmented assignment).
    """
    for owner, current in lookup_order(facts, klass):
        for value in owner.attributes(current).get(attribute, ()):
            yield owner, value


def attribute_values(klass: ClassDef) -> dict[str, list[Expr | None]]:
    """All that the methods of one class assign to attributes of their first parameter, and its class variables."""
    found: dict[str, list[Expr | None]] = {}
    for statement in klass.body:
        if isinstance(statement, Assign | AnnAssign):
            for target, value in _targets(statement):
                if isinstance(target, Name) and value is not None:
                    found.setdefault(target.id, []).append(value)
        if not isinstance(statement, FunctionDef) or not statement.parameters:
            continue
        me = statement.parameters[0].name
        for node in walk(statement):
            if isinstance(node, Assign | AnnAssign):
                for target, value in _targets(node):
                    if isinstance(target, Attribute) and isinstance(target.value, Name) and target.value.id == me:
                        found.setdefault(target.attr, []).append(value)
    return found


def _targets(statement: Assign | AnnAssign) -> Iterator[tuple[Node, Expr | None]]:
    if isinstance(statement, AnnAssign):
        if statement.value is not None:
            yield statement.target, statement.value
        return
    for target in statement.targets:
        if not isinstance(target, Tuple):
            yield target, statement.value
            continue
        parts = statement.value.elts if isinstance(statement.value, Tuple) else ()
        is_parallel = len(parts) == len(target.elts)
        for place, element in enumerate(target.elts):
            yield element, parts[place] if is_parallel else None


def _base(owner: "Facts", base: Expr) -> "tuple[Facts, ClassDef] | None":
    seen = (seen_class(owner, name) for name in owner.names.meaning(base).names)
    return next((klass for klass in seen if klass is not None), None)


def class_of_self(facts: "Facts", name: Name) -> "tuple[Facts, ClassDef] | None":
    """The class whose method calls its first parameter by a name, so that the name is an instance of it."""
    bindings = facts.names.lookup(name.id, name)
    for binding in bindings:
        function = binding.scope
        if binding.kind != "parameter" or not isinstance(function, FunctionDef):
            return None
        klass = facts.index.parents.get(function)
        is_first = function.parameters and function.parameters[0] is binding.node
        if not isinstance(klass, ClassDef) or not is_first:
            return None
        return facts, klass
    return None
