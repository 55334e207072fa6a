"""What an expression may stand for: the expressions that names, parameters and attributes of self were given.

Knows of their order what `latest.py` tells; refuses to know which branches run.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.classes import lookup_order
from amplint.facts.program.latest import latest
from amplint.model.data import Entity
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    Await,
    BoolOp,
    Call,
    ClassDef,
    Expr,
    FunctionDef,
    IfExp,
    Lambda,
    Name,
    NamedExpr,
    Node,
    Parameter,
    Tuple,
)
from amplint.model.walks import dotted, element, own_returns, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.bindings import Binding

_DEPTH = 8


class Origin(Entity):
    """An expression of a module that a value may come from; node is None where it comes from somewhere unseen.

    parameter is set with a node of None where the value is what a caller that is not seen passes.
    """

    facts: "Facts"
    node: Expr | None
    parameter: Parameter | None = None


class Given(Entity):
    """What an assignment gives a place: an expression, or with a part counted from 0, one element of what it yields."""

    value: Expr | None
    part: int | None = None


class _Search(Struct):
    """One search for origins: the expressions that it has followed, by identity, with the depth that was left then."""

    is_local: bool
    reached: dict[int, int] = field(default_factory=dict)


class Values:
    """The values of one module's names, parameters and attributes."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def origins(self, expr: Node, is_local: bool = False) -> tuple[Origin, ...]:
        """The expressions that a value may come from, each once; through at most eight names.

        is_local: a parameter is not followed to what callers pass.
        """
        found: dict[int, Origin] = {}
        for origin in self._origins(expr, _DEPTH, _Search(is_local)):
            key = id(origin.node) if origin.node is not None else id(origin.parameter)
            found.setdefault(key, origin)
        return tuple(found.values())

    def closure(self, expr: Node) -> "Iterator[tuple[Facts, Node]]":
        """The nodes of an expression, and those of the values that the names in it may have, each with its module."""
        for node in walk(expr):
            yield self._facts, node
            if isinstance(node, Name | Attribute):
                for origin in self.origins(node):
                    if origin.node is not None and origin.node is not node:
                        yield from ((origin.facts, inner) for inner in walk(origin.node))

    @cached_property
    def attributes(self) -> dict[tuple[ClassDef, str], list[Given]]:
        """What `self.x = …` and class-level `x = …` give the attributes of each class."""
        found: dict[tuple[ClassDef, str], list[Given]] = defaultdict(list)
        index = self._facts.index
        assignments: list[Assign | AnnAssign] = [*index.each(Assign), *index.each(AnnAssign)]
        for node in sorted(assignments, key=lambda each: each.span):
            klass = index.klass(node)
            if klass is None or node.value is None:
                continue
            in_body = index.parents[node] is klass
            targets = node.targets if isinstance(node, Assign) else (node.target,)
            for target in targets:
                for name, given in _attribute_parts(target, Given(node.value), in_body):
                    found[klass, name].append(given)
        return found

    def attribute(self, klass: ClassDef, name: str) -> "tuple[tuple[Facts, Given], ...]":
        """What a class or its bases give an attribute, not followed further; () where nothing is seen."""
        found: list[tuple[Facts, Given]] = []
        for facts, owner in lookup_order(self._facts, klass):
            found.extend((facts, given) for given in facts.values.attributes.get((owner, name), ()))
        return tuple(found)

    def returned(self, call: Call, part: int | None = None) -> "list[tuple[Facts, Expr]] | None":
        """What a function that is seen returns, or one part of its tuples; None where it is not seen."""
        if isinstance(call.func, Attribute) and dotted(call.func) is None:
            return None
        callee = self._facts.targets.function(call)
        if callee is None or callee[1].is_async or callee[1].name == "__init__":
            return None
        facts, function = callee
        decorators = [facts.names.canonical(each) for each in function.decorators]
        if any(each not in ("builtins.staticmethod", "builtins.classmethod") for each in decorators):
            return None
        values = [each.value for each in own_returns(function) if each.value is not None]
        if part is None:
            has_tuple = any(isinstance(value, Tuple) for value in values)
            return None if has_tuple or not values else [(facts, value) for value in values]
        parts = [found for value in values if isinstance(value, Tuple) and (found := element(value, part)) is not None]
        return [(facts, each) for each in parts] if parts and len(parts) == len(values) else None

    def _origins(self, expr: Node, depth: int, search: _Search) -> Iterator[Origin]:
        # What was followed before as deep as now has told all that it can.
        if search.reached.get(id(expr), 0) >= depth:
            return
        search.reached[id(expr)] = depth
        match expr:
            case IfExp(body=body, orelse=orelse):
                yield from self._origins(body, depth, search)
                yield from self._origins(orelse, depth, search)
            case BoolOp(values=values):
                for each in values:
                    yield from self._origins(each, depth, search)
            case NamedExpr(value=value) | Await(value=value):
                yield from self._origins(value, depth, search)
            case Name(id=name):
                bindings = self._facts.names.lookup(name, expr)
                if not bindings:
                    yield Origin(self._facts, expr)
                for binding in latest(self._facts.index, bindings, expr):
                    yield from self._bound(binding, expr, depth - 1, search)
            case Attribute(value=Name(id="self"), attr=attr):
                yield from self._of_self(expr, attr, depth - 1, search)
            case Call() if (returned := self.returned(expr)) is not None:
                for facts, each in returned:
                    yield from facts.values._origins(each, depth - 1, search)
            case _:
                yield Origin(self._facts, expr)  # type: ignore[arg-type]  # what is asked for is an expression

    def _given(self, given: Given, depth: int, search: _Search) -> Iterator[Origin]:
        if given.value is None:
            yield Origin(self._facts, None)
        elif given.part is None:
            yield from self._origins(given.value, depth, search)
        else:
            returned = self.returned(given.value, given.part) if isinstance(given.value, Call) and depth else None
            if returned is None:
                yield Origin(self._facts, None)
            for facts, each in returned or ():
                yield from facts.values._origins(each, depth, search)

    def _bound(self, binding: "Binding", use: Expr, depth: int, search: _Search) -> Iterator[Origin]:
        if binding.value is not None:
            yield from self._origins(binding.value, depth, search)
        elif isinstance(binding.node, Parameter) and isinstance(binding.scope, FunctionDef | Lambda):
            if search.is_local:
                yield Origin(self._facts, None, binding.node)
            else:
                yield from self._passed(binding.node, binding.scope, depth, search)
        elif binding.kind == "import" and binding.canonical is not None:
            yield from self._imported(binding.canonical, use, depth, search)
        elif binding.kind == "definition":
            yield Origin(self._facts, use)
        else:
            yield from self._given(self.unpacked(binding.node), depth, search)

    def unpacked(self, target: Node) -> Given:
        """The element of an assigned value that an unpacked name gets."""
        holder = self._facts.index.parents.get(target)
        statement = self._facts.index.parents.get(holder) if holder is not None else None
        if isinstance(holder, Tuple) and isinstance(statement, Assign) and target in holder.elts:
            return Given(statement.value, holder.elts.index(target))
        return Given(None)

    def _imported(self, canonical: str, use: Expr, depth: int, search: _Search) -> Iterator[Origin]:
        module, _, name = canonical.rpartition(".")
        owner = self._facts.context.modules.get(module)
        bindings = owner.names.bindings(owner.module).get(name, ()) if owner is not None else ()
        values = [binding.value for binding in bindings if binding.value is not None]
        if owner is None or not values:
            yield Origin(self._facts, use)
        else:
            for value in values:
                yield from owner.values._origins(value, depth, search)

    def _passed(
        self, parameter: Parameter, function: FunctionDef | Lambda, depth: int, search: _Search
    ) -> Iterator[Origin]:
        sites = self._facts.targets.sites(function) if isinstance(function, FunctionDef) else ()
        if not sites or isinstance(function, Lambda):
            yield Origin(self._facts, None, parameter)
            return
        for facts, call in sites:
            argument = facts.targets.argument(call, (self._facts, function), parameter)
            if argument is not None:
                yield from facts.values._origins(argument, depth, search)
            elif parameter.default is not None:
                yield from self._origins(parameter.default, depth, search)
            else:
                yield Origin(self._facts, None, parameter)

    def _of_self(self, expr: Expr, attr: str, depth: int, search: _Search) -> Iterator[Origin]:
        klass = self._facts.index.klass(expr)
        given = self.attribute(klass, attr) if klass is not None else ()
        if not given:
            yield Origin(self._facts, expr)
        for facts, each in given:
            yield from facts.values._given(each, depth, search)


def _attribute_parts(target: Node, given: Given, in_body: bool) -> Iterator[tuple[str, Given]]:
    match target:
        case Attribute(value=Name(id="self"), attr=attr):
            yield attr, given
        case Name(id=name) if in_body:
            yield name, given
        case Tuple(elts=elts):
            for place, part in enumerate(elts):
                inner = Given(given.value, place) if given.part is None else Given(None)
                if isinstance(given.value, Tuple) and given.part is None and len(given.value.elts) == len(elts):
                    inner = Given(given.value.elts[place])
                yield from _attribute_parts(part, inner, in_body)
        case _:
            pass
