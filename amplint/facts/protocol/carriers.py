"""Which places and calls of a scene can hold a scaled loss on any path at all; all other assignments do not matter.

Goes by mention alone, whatever the order of things: the reader of paths is the one to say what is held where.
"""

from dataclasses import dataclass, field

from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Passing, Step, StepKind
from amplint.flow.terms import Term
from amplint.flow.writes import writes
from amplint.model.tree import Attribute, Call, Name, Node, Return, Subscript
from amplint.model.walks import walk


@dataclass
class Carriers:
    """scales: the identities of the calls that scale a loss."""

    scene: Scene
    scales: frozenset[int]
    places: set[Term] = field(default_factory=set)
    calls: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        steps = [step for _, _, step in self.scene.graph.steps()] if self.scales else []
        kinds = (StepKind.BIND, StepKind.RETURN, StepKind.OPEN)
        steps = [step for step in dict.fromkeys(steps) if step.kind in kinds]
        while sum(self._spread(step) for step in steps):
            pass

    def is_concerned(self, step: Step) -> bool:
        """Whether a step assigns, passes or returns something that may be a scaled loss."""
        match step.kind:
            case StepKind.BIND:
                return any(place in self.places for place, _ in writes(step, self.scene.terms))
            case StepKind.RETURN | StepKind.CLOSE:
                frame = step.frame if step.kind is StepKind.RETURN else step.opened
                opener = self.scene.frames[frame]
                return (id(opener.call), opener.parent) in self.calls
            case StepKind.OPEN:
                return any(("name", p.parameter.name, step.opened) in self.places for p in self._passed(step))
            case _:
                return False

    def _passed(self, step: Step) -> tuple[Passing, ...]:
        return self.scene.frames[step.opened].passed

    def _spread(self, step: Step) -> bool:
        """Add what a step hands on; whether that was new."""
        before = len(self.places) + len(self.calls)
        match step.kind:
            case StepKind.BIND:
                value = getattr(step.node, "value", None)
                if isinstance(value, Node) and self._mentions(value, step.frame):
                    self.places.update(place for place, _ in writes(step, self.scene.terms))
            case StepKind.RETURN:
                value = step.node.value if isinstance(step.node, Return) else step.node
                opener = self.scene.frames[step.frame]
                if value is not None and opener.call is not None and self._mentions(value, step.frame):
                    self.calls.add((id(opener.call), opener.parent))
            case _:
                for passing in self._passed(step):
                    if passing.value is not None and self._mentions(passing.value, passing.frame):
                        self.places.add(("name", passing.parameter.name, step.opened))
        return len(self.places) + len(self.calls) > before

    def _mentions(self, expr: Node, frame: int) -> bool:
        for node in walk(expr):
            if isinstance(node, Call) and (id(node) in self.scales or (id(node), frame) in self.calls):
                return True
            if isinstance(node, Name | Attribute | Subscript) and self.scene.terms.of(node, frame) in self.places:
                return True
        return False
