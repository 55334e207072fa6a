"""Loops whose turns go through optimizers: by their own target, or by a key that the target is.

Knows which loop moves which collection on; what happens in a turn is the reader's.
"""

from dataclasses import dataclass, field

from amplint.facts.guards import Guards
from amplint.facts.scene import Scene
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import Term
from amplint.model.tree import Assign, Comprehension, For, Generator, Name, Node, walk


@dataclass
class OptimizerLoops:
    """elements are the places that stand for the optimizers of a collection."""

    scene: Scene
    elements: frozenset[Term]
    _turning: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)
    _keyed: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for _, _, step in self.scene.graph.steps() if self.elements else ():
            if step.kind is StepKind.BIND and isinstance(step.node, For | Generator | Assign):
                self._enter(step, step.node)
        # `for name in optimizers: optimizer = optimizers[name]`: the names are no optimizers, though they look like it.
        for key, places in self._keyed.items():
            if self._turning.get(key) == places:
                del self._turning[key]

    def turning(self, node: Node, frame: int) -> tuple[Term, ...]:
        """The collection that a loop, one `for` of a comprehension, or an assignment takes another element of."""
        return self._turning.get((id(node), frame), ())

    def may_leave_out(self, loop: Node, frame: int) -> bool:
        """Whether a loop goes through chosen optimizers alone, so that it may end without the one that is followed."""
        return isinstance(loop, For) and Guards(self.scene).is_chosen(loop, frame)

    def keyed(self, loop: Node, frame: int) -> tuple[Term, ...]:
        """The collection whose elements the body of a loop takes by the loop's target as their key."""
        return self._keyed.get((id(loop), frame), ())

    def is_keyed(self, step: Step) -> bool:
        """Whether an assignment in a loop takes an element by the loop's own target, so another one in each turn."""
        loops = self.scene.homes[step.frame].index.loops(step.node)
        targets = {n.id for loop in loops if isinstance(loop, For) for n in walk(loop.target) if isinstance(n, Name)}
        return any(isinstance(node, Name) and node.id in targets for node in walk(step.node))

    def _enter(self, step: Step, node: For | Generator | Assign) -> None:
        targets = node.targets if isinstance(node, Assign) else (node.target,)
        names = [name for target in targets for name in walk(target) if isinstance(name, Name)]
        places = tuple(p for p in (self.scene.place(name, step.frame) for name in names) if p in self.elements)[:1]
        if not places:
            return
        self._turning[id(node), step.frame] = places
        index = self.scene.homes[step.frame].index
        around = index.parents.get(node)
        if isinstance(around, Comprehension):
            self._turning[id(around), step.frame] = places
        if isinstance(node, Assign) and self.is_keyed(step):
            self._keyed[id(index.loops(node)[0]), step.frame] = places
