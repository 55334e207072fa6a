"""Norms of gradients that gradients are divided by: what comes of that is the same at every scale.

Knows the expressions of one function: `rate * p.grad / (norm + eps)`; a norm that is used in any other way is none.
"""

from typing import TYPE_CHECKING

from amplint.facts.protocol.gradients import has_gradient
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    Binary,
    Call,
    Compare,
    Comprehension,
    Constant,
    List,
    Name,
    Node,
    Tuple,
)
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# What grows with its argument as a norm does, or is one of norms.
KEEPING = frozenset({"norm", "vector_norm", "stack", "cat", "max", "to", "float", "item", "detach", "tensor"})
ASKING = frozenset({"isnan", "isinf", "isfinite"})
MOST_NAMES = 6


def is_of_a_ratio(home: "Facts", norm: Call) -> bool:
    """Whether a norm of gradients is taken only for gradients to be divided by it."""
    return _Uses(home).are_ratios(norm, is_inverse=False)


class _Uses:
    """What becomes of a norm, by the names that it is given on its way."""

    def __init__(self, home: "Facts") -> None:
        self._home = home
        self._names: set[tuple[str, bool]] = set()

    def are_ratios(self, node: Node, *, is_inverse: bool) -> bool:
        """Whether a value, or the inverse of one, meets gradients in a quotient wherever it is used, and is used."""
        return self._kind(node, is_inverse) is True

    def _kind(self, node: Node, is_inverse: bool) -> bool | None:
        """True for a ratio, None for a question whose answer does not depend on the scale, False for all else."""
        parents = self._home.index.parents
        while True:
            around = parents.get(node)
            match around:
                case Binary(op="/") if around.right is node and not is_inverse:
                    if has_gradient(around.left):
                        return True
                    node, is_inverse = around, True
                case Binary(op="*") if not self._is_norm(other := _other(around, node)):
                    if has_gradient(other):
                        return is_inverse
                    node = around
                case Binary(op="+") if not is_inverse and isinstance(_other(around, node), Constant | Name | Attribute):
                    node = around
                case Attribute() if around.attr in KEEPING and isinstance(parents.get(around), Call):
                    node = parents[around]
                case Argument() | Comprehension() | List() | Tuple():
                    node = around
                case Call() if last_name(around.func) in KEEPING:
                    node = around
                case Call() if last_name(around.func) in ASKING:
                    return None
                case Compare(comparators=(Constant(value=0 | 0.0),)):
                    return None
                case Assign(targets=(Name(id=name),)):
                    return self._of_name(name, around, is_inverse)
                case _:
                    return False

    def _of_name(self, name: str, given: Assign, is_inverse: bool) -> bool:
        if (name, is_inverse) in self._names or len(self._names) > MOST_NAMES:
            return False
        self._names.add((name, is_inverse))
        index = self._home.index
        nodes = own_nodes(index.function(given) or self._home.module)
        uses = [n for n in nodes if isinstance(n, Name) and n.id == name and not index.is_target(n)]
        kinds = [self._kind(use, is_inverse) for use in uses]
        return True in kinds and False not in kinds

    def _is_norm(self, factor: Node) -> bool:
        """Whether a factor is the norm once more: a square does not grow as gradients do."""
        return any(isinstance(n, Name) and n.id in {name for name, _ in self._names} for n in walk(factor))


def _other(binary: Binary, one: Node) -> Node:
    return binary.left if binary.right is one else binary.right
