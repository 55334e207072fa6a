"""Whose loss a loss is: the one optimizer whose modules went into it, as the function shows that made it.

Knows what the names in one function were given; refuses to look into functions that it calls, or past a cut graph.
"""

from collections.abc import Iterator

from amplint.facts.program.latest import latest
from amplint.facts.protocol.loss_sources import given
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scene import Scene
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, Call, Name, Node
from amplint.model.walks import children

# What leaves a part of the model out of the graph: what it is asked of, or all that runs under it.
CUTTING = frozenset({"detach", "data"})
SUSPENDING = frozenset({"no_grad", "inference_mode"})
MOST_NODES = 400


def owner_of_loss(scene: Scene, roles: Roles, loss: Node, frame: int) -> Term | None:
    """The only optimizer among several whose modules went into a loss; None where there is none, or it is not seen."""
    known = roles.optimizers.values()
    if len(known) < 2 or any(role.is_element or not role.modules for role in known):
        return None
    nodes = list(_made_of(scene, loss, frame))
    if len(nodes) > MOST_NODES or any(isinstance(node, Attribute) and node.attr in SUSPENDING for node in nodes):
        return None
    home = scene.homes[frame]
    if any(isinstance(node, Call) and home.targets.function(node) is not None for node in nodes):
        return None
    places = {scene.place(node, frame) for node in nodes if isinstance(node, Name | Attribute)}
    found = [role.place for role in known if not places.isdisjoint(role.modules)]
    return found[0] if len(found) == 1 else None


def _made_of(scene: Scene, loss: Node, frame: int) -> Iterator[Node]:
    """The nodes of a loss that its graph may lead to, and of all that the names in it were given in their function."""
    home, function = scene.homes[frame], scene.frames[frame].function
    pending, seen = [loss], set[Node]()
    count = 0
    while pending and count <= MOST_NODES:
        for node in _joined(pending.pop()):
            count += 1
            yield node
            for binding in latest(home.index, home.names.lookup(node.id, node), node) if isinstance(node, Name) else ():
                if binding.scope is function and binding.node not in seen:
                    seen.add(binding.node)
                    pending += given(home.index, binding)


def _joined(root: Node) -> Iterator[Node]:
    """The nodes of an expression, without what is cut from its graph."""
    pending = [root]
    while pending:
        node = pending.pop()
        if not (isinstance(node, Attribute) and node.attr in CUTTING):
            yield node
            pending.extend(children(node))
