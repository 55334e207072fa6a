"""Expressions as terms in which names, attributes and calls in sight are replaced by what they stand for.

Where several assignments or returns give a value, the questions around them choose; knows the order of the text alone,
and refuses to count the turns of loops.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amplint.facts.program.branches import sides
from amplint.flow.formulas import PURE
from amplint.flow.terms import OPAQUE, Term, composed
from amplint.knowledge.training_api import DTYPES
from amplint.model.tree import Attribute, Call, Expr, FunctionDef, Name, NamedExpr, Node, Parameter
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.names import Binding

DEEPEST = 8


@dataclass(frozen=True, slots=True, eq=False)
class Unfolding:
    """Unfolds the expressions of one module.

    objects tells apart what some calls make, by the identity of the call; given holds what a followed call passes, by
    the identity of the parameter.
    """

    facts: "Facts"
    objects: Mapping[int, Term] = field(default_factory=dict)
    given: Mapping[int, Term] = field(default_factory=dict)
    depth: int = DEEPEST

    def of(self, expr: Expr | None) -> Term:
        """The term of an expression."""
        if expr is None or not self.depth:
            return OPAQUE
        dtype = DTYPES.get(self.facts.names.canonical(expr) or "")
        if dtype is not None:
            return ("const", "dtype", dtype)
        match expr:
            case Name():
                return self._name(expr)
            case Attribute(value=Name(id="self")):
                return self._of_self(expr)
            case NamedExpr():
                return self.of(expr.value)
            case Call():
                return self.objects.get(id(expr)) or self._call(expr)
            case _:
                return composed(expr, self.of)

    def around(self, place: Node) -> Term:
        """What the choices around a place must answer for it to run."""
        return ("and", tuple(self._answer(side.choice.test, side.is_true) for side in sides(self.facts, place)))

    def _answer(self, test: Expr, is_true: bool) -> Term:
        term = self.of(test)
        return term if is_true else ("not", term)

    def _below(self, facts: "Facts | None" = None, given: Mapping[int, Term] | None = None) -> "Unfolding":
        return Unfolding(facts or self.facts, self.objects, self.given if given is None else given, self.depth - 1)

    def _name(self, name: Name) -> Term:
        bindings = [each for each in self.facts.names.lookup(name.id, name) if not self._is_behind(each, name)]
        if len(bindings) == 1 and isinstance(bindings[0].node, Parameter):
            return self._parameter(bindings[0].node, bindings[0].scope)
        values = [(binding.node, binding.value) for binding in bindings if binding.value is not None]
        if values and len(values) == len(bindings):
            return self._below()._chosen(values)
        canonical = self.facts.names.canonical(name)
        return (
            "name",
            canonical or name.id,
            "" if canonical else id(bindings[0].scope) if bindings else self.facts.path,
        )

    def _is_behind(self, binding: "Binding", use: Name) -> bool:
        """Whether a name gets a value only after its use: below it in the same function, and in no loop with it."""
        index = self.facts.index
        is_below = binding.value is not None and binding.value.span > use.span
        return is_below and index.function(use) is binding.scope and not index.loops(use)

    def _parameter(self, parameter: Parameter, function: Node) -> Term:
        """What a call passes: the one that was followed here, or the only one in sight."""
        if id(parameter) in self.given:
            return self.given[id(parameter)]
        calls = self.facts.targets.sites(function) if isinstance(function, FunctionDef) else ()
        if len(calls) == 1 and isinstance(function, FunctionDef):
            home, call = calls[0]
            passed = home.targets.argument(call, (self.facts, function), parameter)
            if passed is not None:
                return self._below(home, {}).of(passed)
        return ("name", parameter.name, id(function))

    def _of_self(self, expr: Attribute) -> Term:
        klass = self.facts.index.klass(expr)
        found = self.facts.values.attribute(klass, expr.attr) if klass is not None else ()
        homes = {(home.path, home.index.function(given.value)) for home, given in found if given.value is not None}
        values = [(given.value, given.value) for _, given in found if given.value is not None and given.part is None]
        if len(homes) == 1 and len(values) == len(found):
            return self._below(found[0][0], {})._chosen(values)
        return ("attr", ("name", "self", id(klass)), expr.attr)

    def _call(self, call: Call) -> Term:
        callee = self.facts.targets.function(call)
        returned = self.facts.values.returned(call)
        if callee is None or returned is None:
            term = composed(call, self.of)
            # What nobody sees answers the same each time it is asked the same.
            return term if last_name(call.func) in PURE | {"bool"} else ("name", ("called", *term[1:]), "")
        home, function = callee
        given: dict[int, Term] = {}
        for parameter in function.parameters:
            passed = home.targets.argument(call, callee, parameter)
            given[id(parameter)] = self.of(passed) if passed is not None else self._below(home).of(parameter.default)
        # The last return stands for all paths on which no other is met.
        values = sorted(((value, value) for _, value in returned), key=lambda pair: pair[0].span, reverse=True)
        return self._below(home, given)._chosen(values)

    def _chosen(self, ways: "Iterable[tuple[Node, Expr]]") -> Term:
        """One of several values: each takes the place of those before it where the choices around it say so."""
        (_, first), *others = ways
        term = self.of(first)
        for place, value in others:
            term = ("if", self.around(place), self.of(value), term)
        return term
