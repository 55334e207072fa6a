"""Whose loss a loss is: the one optimizer whose modules went into it, as the function shows that made it.

Knows what the names in one function were given; refuses to look into functions that it calls, or past a cut graph.
"""

from collections.abc import Iterator

from amplint.facts.protocol.loss_sources import given
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scene import Scene
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, Call, Name, Node
from amplint.model.walks import walk

# What leaves a part of the model out of the graph.
CUTTING = frozenset({"detach", "no_grad", "inference_mode", "data"})
MOST_NODES = 400


def owner_of_loss(scene: Scene, roles: Roles, loss: Node, frame: int) -> Term | None:
    """The only optimizer among several whose modules went into a loss; None where there is none, or it is not seen."""
    known = roles.optimizers.values()
    if len(known) < 2 or any(role.is_element or not role.modules for role in known):
        return None
    nodes = list(_made_of(scene, loss, frame))
    if len(nodes) > MOST_NODES or any(isinstance(node, Attribute) and node.attr in CUTTING for node in nodes):
        return None
    home = scene.homes[frame]
    if any(isinstance(node, Call) and home.targets.function(node) is not None for node in nodes):
        return None
    places = {scene.place(node, frame) for node in nodes if isinstance(node, Name | Attribute)}
    found = [role.place for role in known if not places.isdisjoint(role.modules)]
    return found[0] if len(found) == 1 else None


def _made_of(scene: Scene, loss: Node, frame: int) -> Iterator[Node]:
    """The nodes of a loss, and of all that the names in it were given in their function."""
    home, function = scene.homes[frame], scene.frames[frame].function
    pending, seen = [loss], set[str]()
    count = 0
    while pending and count <= MOST_NODES:
        for node in walk(pending.pop()):
            count += 1
            yield node
            if isinstance(node, Name) and node.id not in seen:
                seen.add(node.id)
                bound = (b for b in home.names.lookup(node.id, node) if b.scope is function)
                pending += [source for binding in bound for source in given(home.index, binding)]
