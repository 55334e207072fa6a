"""Which loops go through batches, and which through epochs of them.

Knows loops and the functions in sight that they call; refuses to know what a loop goes through by its name.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.bound_functions import named_function
from amplint.model.tree import Attribute, Call, For, Node, While
from amplint.model.walks import last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_over_batches(facts: "Facts", loop: For | While) -> bool:
    """Whether a loop has none in it, nor calls a function in sight that runs backward in a loop of its own."""
    inner = [node for statement in loop.body for node in walk(statement)]
    if any(is_loop(node) for node in inner):
        return False
    called = (named_function(facts, node.func) for node in inner if isinstance(node, Call))
    return not any(_runs_backward(turn) for each in called if each is not None for turn in own_nodes(each[1]))


def _runs_backward(node: Node) -> bool:
    """Whether a node is a loop that runs backward in its turns."""
    return is_loop(node) and any(isinstance(each, Call) and last_name(each.func) == "backward" for each in walk(node))


def trains_epochs(around: Node) -> bool:
    """Whether a whole run goes on in a function or a loop: a loop in it, over epochs, has a loop over batches."""
    return any(
        isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr == "scale"
        for epochs in walk(around)
        if epochs is not around and is_loop(epochs)
        for batches in walk(epochs)
        if batches is not epochs and is_loop(batches)
        for node in walk(batches)
    )


def is_loop(node: Node) -> bool:
    """Whether a node is a loop of statements."""
    return isinstance(node, For | While)
