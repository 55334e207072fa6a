"""What is forgotten where a program does or knows what cannot be followed, as the events that say so."""

from collections.abc import Iterator

from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scene import Scene
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.training_api import RECORD
from amplint.model.tree import Attribute, Node, Subscript


def all_forgotten(roles: Roles) -> Iterator[Happening]:
    """Nothing is known any more of any scaler or optimizer."""
    yield from (Happening(EventKind.FORGET, scaler) for scaler in roles.scalers)
    yield Happening(EventKind.FORGET)


def record_read(scene: Scene, roles: Roles, value: Node | None, frame: int) -> Iterator[Happening]:
    """Who reads or writes the stage that a scaler keeps of an optimizer knows on which paths it was unscaled."""
    while isinstance(value, Subscript | Attribute):
        if isinstance(value, Attribute) and value.attr == RECORD:
            scaler = scene.place(value.value, frame)
            if scaler in roles.scalers:
                yield Happening(EventKind.FORGET, scaler)
                yield Happening(EventKind.FORGET)
        value = value.value
