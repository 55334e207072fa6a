"""Loops over optimizers that step some of them: `if name != "critic": scaler.step(optimizers[name])`.

Knows tests that ask for the loop's own target; a loop whose turns all fail such a test is none that anybody writes.
"""

from amplint.facts.protocol.events import Events
from amplint.facts.protocol.guards import Guards
from amplint.facts.protocol.scene import Scene
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import For, Name
from amplint.model.walks import walk

RECORDING = (EventKind.STEP, EventKind.UNSCALE)


def choosing_loops(scene: Scene, events: Events) -> dict[tuple[int, int], set[Term]]:
    """The loops, with their frames, and the scalers that record infs in the turns that a loop's test lets through."""
    guards = Guards(scene)
    found: dict[tuple[int, int], set[Term]] = {}
    for _, _, step in scene.graph.steps():
        scalers = {each.scaler for each in events.of(step) if each.kind in RECORDING and each.scaler is not None}
        for guard in guards.of(step) if scalers else ():
            asked = {node.id for node in walk(guard.test) if isinstance(node, Name)}
            for loop in scene.homes[guard.frame].index.loops(guard.test):
                targets = walk(loop.target) if isinstance(loop, For) else ()
                if any(isinstance(node, Name) and node.id in asked for node in targets):
                    found.setdefault((id(loop), guard.frame), set()).update(scalers)
    return found
