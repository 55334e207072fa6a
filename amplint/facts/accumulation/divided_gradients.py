"""Whether a program divides the gradients themselves by the length of a group, where others divide the loss.

Goes by expressions alone: any factor counts that is neither the number of processes nor a limit by its name.
"""

import re
from collections.abc import Iterator

from amplint.facts.accumulation.loss_returns import is_number_of_processes
from amplint.facts.protocol.gradients import has_gradient, is_gradient
from amplint.facts.protocol.readings import Reading
from amplint.model.tree import Assign, Attribute, AugAssign, Binary, Call, Expr, Name, Node
from amplint.model.walks import last_name, own_nodes, walk

METHODS = frozenset({"div_", "divide_", "true_divide_", "mul_", "multiply_"})
FUNCTIONS = frozenset({"_foreach_div_", "_foreach_mul_"})
NAMED = re.compile(r"(?:p|param|parameter)?_?grad(?:ient)?s?", re.IGNORECASE)
LIMITING = re.compile(r"clip|coef|norm|limit", re.IGNORECASE)


def divides_gradients(reading: Reading) -> bool:
    """Whether some function of a reading does."""
    functions = dict.fromkeys(frame.function for frame in reading.scene.frames)
    factors = (factor for function in functions for node in own_nodes(function) for factor in _factors(node))
    return any(not is_number_of_processes(factor) and not _is_limit(factor) for factor in factors)


def _factors(node: Node) -> Iterator[Expr]:
    match node:
        case AugAssign(target=target, op="/" | "*", value=value) if _is_named_gradient(target):
            yield value
        case Assign(targets=targets, value=Binary(op="/" | "*") as value) if any(map(is_gradient, targets)):
            yield from (side for side in (value.left, value.right) if not has_gradient(side))
        case Call(func=Attribute(value=held, attr=name), args=(factor, *_)) if name in METHODS:
            if _is_named_gradient(held):
                yield factor.value
        case Call(args=(_, factor, *_)) if last_name(node.func) in FUNCTIONS:
            yield factor.value
        case _:
            pass


def _is_named_gradient(node: Node) -> bool:
    return is_gradient(node) or (isinstance(node, Name) and NAMED.fullmatch(node.id) is not None)


def _is_limit(factor: Expr) -> bool:
    names = (last_name(node) for node in walk(factor) if isinstance(node, Name | Attribute))
    return any(LIMITING.search(name) for name in names)
