"""Switches that a program writes down as False once and for all.

Refuses to take for one what a caller, an option or another line may set.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.classes import seen_class
from amplint.model.tree import Assign, Attribute, ClassDef, Constant, Expr, Name, Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_false_for_good(facts: "Facts", expr: Expr) -> bool:
    """Whether every value that an expression may have is a False that is written down."""
    if isinstance(expr, Attribute) and isinstance(expr.value, Name):
        klass = seen_class(facts, facts.names.canonical(expr.value))
        if klass is not None:
            return _is_false_in_class(*klass, expr)
    found = facts.values.origins(expr)
    return bool(found) and all(origin.node is not None and _is_false(origin.node) for origin in found)


def _is_false_in_class(owner: "Facts", klass: ClassDef, read: Attribute) -> bool:
    """Whether the attribute of a class, as of a `class Config`, is False, and nobody in sight sets another."""
    given = owner.values.attribute(klass, read.attr)
    if not given or not all(each.value is not None and _is_false(each.value) for _, each in given):
        return False
    homes = (owner, *owner.context.importers.naming({klass.name}))
    return not any(_sets(target, read.attr) for home in homes for a in home.index.each(Assign) for target in a.targets)


def _sets(target: Expr, name: str) -> bool:
    return isinstance(target, Attribute) and target.attr == name


def _is_false(node: Node) -> bool:
    return isinstance(node, Constant) and node.value is False
