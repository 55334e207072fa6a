"""What an expression may hold that can be called: functions, classes, objects, and the tests that choose among them.

Knows which tests stand around the places that give a name its value; refuses to know what is done with it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.bound_functions import BoundFunction
from amplint.flow.terms import bindings as bound_in
from amplint.model.data import Entity
from amplint.model.tree import ClassDef, Constant, Dict, Expr, FunctionDef, If, Lambda, Name, Node, Return, With
from amplint.model.walks import own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class HeldClass(Entity):
    """A class itself, or with is_made, an instance of it."""

    home: "Facts"
    klass: ClassDef
    is_made: bool = False


class Choice(Entity):
    """A test that decides which of two things something is; frame is that in which it is evaluated."""

    test: Expr
    frame: int
    yes: "Held"
    no: "Held"


Held = BoundFunction | HeldClass | Choice | None
Tests = list[tuple[Expr, bool]]

MOST_TESTS = 4


def chosen(test: Expr, frame: int, yes: Held, no: Held) -> Held:
    """A choice, where some frame can ask its test and one of the two is known."""
    return None if frame < 0 or (yes is None and no is None) else Choice(test, frame, yes, no)


def tests_around(home: "Facts", node: Node, scope: Node, shared: set[Node]) -> Tests | None:
    """The tests of the `if`s around a place of a scope, outermost first; None where more than tests decides.

    shared: what is around that place and around its use is no matter.
    """
    found: Tests = []
    child = node
    for outer in home.index.ancestors(node):
        if outer in shared or outer is scope:
            break
        if isinstance(outer, If):
            found.append((outer.test, child in outer.body))
        elif home.index.parents.get(outer) is not None and not isinstance(outer, With) and hasattr(outer, "body"):
            return None
        child = outer
    return found[::-1] if len(found) <= MOST_TESTS else None


def tests_of(home: "Facts", binding: Binding, shared: set[Node]) -> Tests | None:
    """The tests around a binding that are not around its use."""
    return tests_around(home, binding.node, binding.scope, shared)


def returns_of(home: "Facts", function: FunctionDef) -> list[tuple[Expr, Tests]]:
    """What a function returns, in order, each with the tests around it; nothing where more than tests decides."""
    found: list[tuple[Expr, Tests]] = []
    for node in own_nodes(function):
        if isinstance(node, Return):
            tests = tests_around(home, node, function, set())
            if tests is None or node.value is None:
                return []
            found.append((node.value, tests))
    return found


def free_names(function: Lambda, around: FunctionDef | Lambda) -> Iterator[str]:
    """The names of the function around it that a lambda reads."""
    own, outer = bound_in(function), bound_in(around)
    for node in walk(function.body):
        if isinstance(node, Name) and node.id in outer and node.id not in own:
            yield node.id


def is_of_truths(table: Dict) -> bool:
    """Whether the keys of a dictionary are `True` and `False`."""
    return all(isinstance(key, Constant) and isinstance(key.value, bool) for key in table.keys)
