"""Whose methods the frames of a scene are: what an optimizer's own `step` does to gradients, the call of it speaks for.

Knows objects by their places; refuses to look into what the methods do.
"""

from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scene import Scene
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, Call
from amplint.model.walks import last_name


def receiver(scene: Scene, frame: int) -> Term | None:
    """The object whose method a frame is."""
    activation = scene.frames[frame]
    func = activation.call.func if isinstance(activation.call, Call) else None
    return scene.place(func.value, activation.parent) if isinstance(func, Attribute) else None


def is_in_own_step(scene: Scene, roles: Roles, frame: int) -> bool:
    """Whether a frame runs inside `step` or `zero_grad` of an optimizer whose class is in sight."""
    while frame > 0:
        call, parent = scene.frames[frame].call, scene.frames[frame].parent
        is_named = isinstance(call, Call) and last_name(call.func) in ("step", "zero_grad")
        if is_named and receiver(scene, frame) in roles.optimizers:
            return True
        frame = parent
    return False
