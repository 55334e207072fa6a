"""Expressions as terms in which names, attributes and calls in sight are replaced by what they stand for.

Where several assignments or returns give a value, the questions around them choose; knows the order of the text alone,
and refuses to count the turns of loops.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.values import Given
from amplint.flow.formulas import PURE
from amplint.flow.terms import OPAQUE, Term, composed
from amplint.knowledge.training_api import DTYPES
from amplint.model.data import Entity
from amplint.model.tree import (
    Attribute,
    Call,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    If,
    IfExp,
    Match,
    MatchCase,
    Name,
    NamedExpr,
    Node,
    Parameter,
    Tuple,
    While,
)
from amplint.model.walks import element, last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.bindings import Binding

DEEPEST = 8
# How many expressions one term may take: what stands for much, and is asked of more, is not unfolded to the end.
MOST = 500
# A value, or the element of it that is taken, and the place that says when.
Way = tuple[Node, Expr, int | None]


class Effort(Struct):
    """How many expressions are left to one term."""

    left: int = MOST


class Unfolding(Entity):
    """Unfolds the expressions of one module.

    objects tells apart what some calls make, by the identity of the call; given holds what a followed call passes, by
    the identity of the parameter.
    """

    facts: "Facts"
    objects: Mapping[int, Term] = field(default_factory=dict)
    given: Mapping[int, Term] = field(default_factory=dict)
    depth: int = DEEPEST
    effort: Effort = field(default_factory=Effort)

    def of(self, expr: Expr | None) -> Term:
        """The term of an expression."""
        self.effort.left -= 1
        if expr is None or not self.depth or self.effort.left < 0:
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
        """What the choices around a place must answer for it to run; what is no question may have any answer."""
        asked: list[Term] = []
        child = place
        for outer in self.facts.index.ancestors(place):
            match outer:
                case If() | IfExp() if child is not outer.test:
                    is_true = child in outer.body if isinstance(outer, If) else child is outer.body
                    asked.append(self._answer(outer.test, is_true))
                case MatchCase():
                    asked.append(self._case(outer))
                case For() | While() | ExceptHandler():
                    asked.append(OPAQUE)
                case _:
                    pass
            child = outer
        return ("and", tuple(asked))

    def _answer(self, test: Expr, is_true: bool) -> Term:
        term = self.of(test)
        return term if is_true else ("not", term)

    def _case(self, case: MatchCase) -> Term:
        """What the subject of a `match` must be for a case to be the one."""
        match = self.facts.index.parents[case]
        if not isinstance(match, Match):
            return OPAQUE
        subject = self.of(match.subject)
        asked: list[Term] = []
        for other in match.cases[: match.cases.index(case) + 1]:
            fits = self._fits(subject, other)
            asked.append(fits if other is case else ("not", fits))
        return ("and", tuple(asked))

    def _fits(self, subject: Term, case: MatchCase) -> Term:
        if case.guard is not None or (case.pattern.captures and not case.pattern.is_irrefutable):
            return OPAQUE
        if case.pattern.is_irrefutable:
            return ("const", "bool", True)
        return ("or", tuple(("cmp", "==", subject, self.of(value)) for value in case.pattern.values))

    def _below(self, facts: "Facts | None" = None, given: Mapping[int, Term] | None = None) -> "Unfolding":
        given = self.given if given is None else given
        return Unfolding(facts or self.facts, self.objects, given, self.depth - 1, self.effort)

    def _name(self, name: Name) -> Term:
        bindings = [each for each in self.facts.names.lookup(name.id, name) if not self._is_behind(each, name)]
        if len(bindings) == 1 and isinstance(bindings[0].node, Parameter):
            return self._parameter(bindings[0].node, bindings[0].scope)
        given = [(binding.node, self._given(binding)) for binding in bindings]
        ways = [(place, each.value, each.part) for place, each in given if each.value is not None]
        if ways and len(ways) == len(bindings):
            return self._below()._chosen(sorted(ways, key=lambda way: way[0].span))
        canonical = self.facts.names.canonical(name)
        if canonical is not None:
            return ("name", canonical, "")
        return ("name", name.id, id(bindings[0].scope) if bindings else self.facts.path)

    def _given(self, binding: "Binding") -> Given:
        return Given(binding.value) if binding.value is not None else self.facts.values.unpacked(binding.node)

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
        ways = [(given.value, given.value, given.part) for _, given in found if given.value is not None]
        if len(homes) == 1 and len(ways) == len(found):
            return self._below(found[0][0], {})._chosen(ways)
        return ("attr", ("name", "self", id(klass)), expr.attr)

    def _call(self, call: Call, part: int | None = None) -> Term:
        callee = self.facts.targets.function(call)
        returned = self.facts.values.returned(call, part)
        if callee is None or returned is None:
            term = composed(call, self.of)
            if last_name(call.func) not in PURE | {"bool"}:
                term = ("name", ("called", *term[1:]), "")  # what nobody sees answers the same when asked the same
            return term if part is None else ("item", term, ("const", "int", part))
        home, function = callee
        given: dict[int, Term] = {}
        for parameter in function.parameters:
            passed = home.targets.argument(call, callee, parameter)
            given[id(parameter)] = self.of(passed) if passed is not None else self._below(home).of(parameter.default)
        # The last return stands for all paths on which no other is met.
        ways = sorted(((value, value, None) for _, value in returned), key=lambda way: way[0].span, reverse=True)
        return self._below(home, given)._chosen(ways)

    def _chosen(self, ways: "Sequence[Way]") -> Term:
        """One of several values: each takes the place of those before it where the choices around it say so."""
        (_, first, part), *others = ways
        term = self._element(first, part)
        for place, value, part in others:
            term = ("if", self.around(place), self._element(value, part), term)
        return term

    def _element(self, value: Expr, part: int | None) -> Term:
        """A value, or with a part counted from 0, one element of it."""
        match value:
            case _ if part is None:
                return self.of(value)
            case Tuple() if (found := element(value, part)) is not None:
                return self.of(found)
            case IfExp():
                return ("if", self.of(value.test), self._element(value.body, part), self._element(value.orelse, part))
            case Call():
                return self._call(value, part)
            case _:
                return ("item", self.of(value), ("const", "int", part))
