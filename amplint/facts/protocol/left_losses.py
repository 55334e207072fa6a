"""Losses that a call of a model leaves behind as an attribute of it, to be run backward from there.

Knows what the modules in sight assign to attributes of that name; refuses to know the class of the model.
"""

from amplint.facts.protocol.loss_sources import may_scale, reads_gradient
from amplint.facts.protocol.scene import Scene
from amplint.model.tree import Assign, Attribute
from amplint.model.walks import last_name, walk


def is_left_by_call(scene: Scene, loss: Attribute, frame: int) -> bool:
    """`model.loss` beside `model(x, y)`: what a call without a scaler left there, if nobody in sight scales it."""
    holder = scene.terms.of(loss.value, frame)
    is_called = any(
        step.frame == frame
        and scene.terms.of(call.func, frame) in (holder, ("attr", holder, "forward"))
        and not any("scaler" in last_name(argument.value) for argument in call.args)
        for step, call in scene.calls
    )
    values = [
        node.value
        for home in dict.fromkeys(scene.homes)
        for node in home.index.each(Assign)
        if any(isinstance(n, Attribute) and n.attr == loss.attr for target in node.targets for n in walk(target))
    ]
    return is_called and not any(may_scale(value) or reads_gradient(value) for value in values)
