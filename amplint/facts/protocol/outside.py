"""What expressions stand for that no frame of a graph evaluates, such as those of an `__init__` that ran before.

Knows which of their names the graph has too: attributes of the object at hand, and the names of modules.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from amplint.facts.program.callers import bind, calls_of
from amplint.flow.terms import OPAQUE, Term, Terms
from amplint.model.tree import Attribute, ClassDef, Comprehension, Constant, Expr, FunctionDef, Module, Name, Node
from amplint.model.walks import children

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Outside(Struct):
    """The terms of such expressions beside a graph whose root is in the module of facts."""

    facts: "Facts"
    terms: Terms

    def term(self, facts: "Facts", expr: Node, me: Term | None) -> Term:
        """The term of an expression of a module.

        me is the term of the object whose method holds the expression; its local names stand for what the method
        assigns them to (`self.amp = amp`), or for nothing that is known.
        """
        match expr:
            case Constant():
                return ("const", type(expr.value).__name__, expr.value)
            case Attribute():
                inner = self.term(facts, expr.value, me)
                return OPAQUE if inner == OPAQUE else self.terms.attribute(inner, expr.attr)
            case Name():
                return self._name(facts, expr, me)
            case _:
                return self._test(facts, expr, me)

    def _test(self, facts: "Facts", expr: Node, me: Term | None) -> Term:
        shape = self.terms.of(expr, 0)
        names = list(_names_in(expr))
        by_text = {self.terms.of(node, 0): self.term(facts, node, me) for node in names}
        return OPAQUE if OPAQUE in by_text.values() else _substituted(shape, by_text)

    def _name(self, facts: "Facts", name: Name, me: Term | None) -> Term:
        scope = facts.index.function(name)
        bindings = facts.names.lookup(name.id, name)
        given = _given(facts, scope, name.id)
        if given is not None:
            return self.term(*given, me)
        if not bindings or isinstance(bindings[0].scope, Module):
            module = "" if facts is self.facts else facts.path
            return ("name", name.id, "" if not bindings else module)
        if not isinstance(scope, FunctionDef) or me is None or not scope.parameters:
            return OPAQUE
        if scope.parameters[0].name == name.id:
            return me
        klass = facts.index.parents.get(scope)
        if isinstance(klass, ClassDef):
            for attribute, values in facts.attributes(klass).items():
                if any(isinstance(value, Name) and value.id == name.id for value in values):
                    return ("attr", me, attribute)
        return OPAQUE


def _given(facts: "Facts", scope: Node | None, name: str) -> "tuple[Facts, Expr] | None":
    """What a parameter of a plain function is given by the only call in sight, where that stands in a method."""
    if not isinstance(scope, FunctionDef) or not isinstance(facts.index.parents.get(scope), Module):
        return None
    parameter = next((each for each in scope.parameters if each.name == name), None)
    calls = calls_of(facts, scope) if parameter is not None else ()
    if parameter is None or len(calls) != 1:
        return None
    home, call = calls[0]
    around = home.index.function(call)
    if not isinstance(around, FunctionDef) or not isinstance(home.index.parents.get(around), ClassDef):
        return None
    value = bind(scope, call).get(name, parameter.default)
    return (home, value) if value is not None else None


def _names_in(expr: Node) -> Iterator[Node]:
    """The outermost names and attribute chains of an expression."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Name | Attribute):
            yield node
        elif not isinstance(node, Comprehension):
            stack.extend(children(node))


def _substituted(term: Term, by_text: dict[Term, Term]) -> Term:
    if term in by_text:
        return by_text[term]
    return tuple(_substituted(part, by_text) if isinstance(part, tuple) else part for part in term)
