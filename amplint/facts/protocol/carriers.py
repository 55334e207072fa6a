"""Which places and calls of a scene can hold a scaled loss on any path at all; all other assignments do not matter.

Goes by mention alone, whatever the order of things: the reader of paths is the one to say what is held where.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Passing, Step, StepKind
from amplint.flow.terms import Term
from amplint.flow.writes import TAKING_IN, writes
from amplint.model.tree import (
    Attribute,
    Call,
    Comprehension,
    Expr,
    For,
    Generator,
    Name,
    Node,
    Return,
    Subscript,
    WithItem,
    Yield,
)
from amplint.model.walks import assigned_value, children, last_name, targets

_PLACES = frozenset({Name, Attribute, Subscript})


class Carriers(Struct):
    """scales: the identities of the calls that scale a loss.

    collected: the places whose value comes out of a collection that some path fills with scaled losses, or is it.
    """

    scene: Scene
    scales: frozenset[int]
    places: set[Term] = field(default_factory=set)
    calls: set[tuple[int, int]] = field(default_factory=set)
    collected: set[Term] = field(default_factory=set)
    _parts: dict[tuple[int, int], tuple[frozenset[tuple[int, int]], frozenset[Term]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = [step for _, _, step in self.scene.graph.steps()] if self.scales else []
        kinds = (StepKind.BIND, StepKind.RETURN, StepKind.YIELD, StepKind.OPEN)
        steps = [step for step in dict.fromkeys(steps) if step.kind in kinds or takes_in(step)]
        while sum(self._spread(step) for step in steps):
            pass

    def is_concerned(self, step: Step) -> bool:
        """Whether a step assigns, passes or returns something that may be a scaled loss."""
        match step.kind:
            case StepKind.BIND:
                return any(place in self.places for place, _ in writes(step, self.scene.terms))
            case StepKind.RETURN | StepKind.YIELD | StepKind.CLOSE:
                frame = step.opened if step.kind is StepKind.CLOSE else step.frame
                opener = self.scene.frames[frame]
                return (id(opener.call), opener.parent) in self.calls
            case StepKind.OPEN:
                return any(("name", p.parameter.name, step.opened) in self.places for p in self._passed(step))
            case StepKind.CALL:
                return takes_in(step) and self._taker(step) in self.places
            case _:
                return False

    def is_collected(self, expr: Node, frame: int) -> bool:
        """Whether a value comes out of a collection that is filled with scaled losses, if not on every path."""
        return bool(self.collected) and not self.collected.isdisjoint(self._parts_of(expr, frame)[1])

    def _passed(self, step: Step) -> tuple[Passing, ...]:
        return self.scene.frames[step.opened].passed

    def _taker(self, step: Step) -> Term | None:
        func = step.node.func if isinstance(step.node, Call) else None
        return self.scene.terms.of(func.value, step.frame) if isinstance(func, Attribute) else None

    def _spread(self, step: Step) -> bool:
        """Add what a step hands on; whether that was new."""
        before = len(self.places) + len(self.calls) + len(self.collected)
        match step.kind:
            case StepKind.BIND:
                self._spread_assignment(step)
            case StepKind.RETURN | StepKind.YIELD:
                value = step.node.value if isinstance(step.node, Return | Yield) else step.node
                opener = self.scene.frames[step.frame]
                if value is not None and opener.call is not None and self._mentions(value, step.frame):
                    self.calls.add((id(opener.call), opener.parent))
            case StepKind.CALL:
                taker = self._taker(step)
                if taker is not None and self._mentions(step.node, step.frame):
                    self.places.add(taker)
                    self.collected.add(taker)
            case _:
                for passing in self._passed(step):
                    if passing.value is not None and self._mentions(passing.value, passing.frame):
                        place = ("name", passing.parameter.name, step.opened)
                        self.places.add(place)
                        if self.is_collected(passing.value, passing.frame):
                            self.collected.add(place)
        return len(self.places) + len(self.calls) + len(self.collected) > before

    def _spread_assignment(self, step: Step) -> None:
        """What is assigned, or comes in turns."""
        node = step.node
        value = _source(node)
        if value is None or not self._mentions(value, step.frame):
            return
        places = {place for place, _ in writes(step, self.scene.terms)}
        items = [target for target in targets(node) if isinstance(target, Subscript)]
        holders = {self.scene.terms.of(item.value, step.frame) for item in items}
        self.places |= places | holders
        self.collected |= holders
        is_turn = isinstance(node, For | Generator)
        if is_turn or isinstance(value, Comprehension) or self.is_collected(value, step.frame):
            self.collected |= places

    def _mentions(self, expr: Node, frame: int) -> bool:
        calls, places = self._parts_of(expr, frame)
        is_scaled = not self.scales.isdisjoint([call for call, _ in calls])
        return is_scaled or not (self.calls.isdisjoint(calls) and self.places.isdisjoint(places))

    def _parts_of(self, expr: Node, frame: int) -> tuple[frozenset[tuple[int, int]], frozenset[Term]]:
        """The calls and the places in an expression, which is asked about again whenever another place is known."""
        key = id(expr), frame
        if key not in self._parts:
            nodes = tuple(_handed_on(expr))
            calls = frozenset([(id(node), frame) for node in nodes if type(node) is Call])
            terms = [self.scene.terms.of(node, frame) for node in nodes if type(node) in _PLACES]
            self._parts[key] = calls, frozenset(terms)
        return self._parts[key]


def _handed_on(expr: Node) -> Iterator[Node]:
    """The nodes of an expression, but those that only gradients are taken of: these are no losses."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        if not (isinstance(node, Call) and last_name(node.func) == "grad"):
            stack.extend(children(node))


def takes_in(step: Step) -> bool:
    """Whether a step puts something into a collection by a method of it."""
    func = step.node.func if step.kind is StepKind.CALL and isinstance(step.node, Call) else None
    return isinstance(func, Attribute) and (func.attr in TAKING_IN or func.attr == "update")


def _source(node: Node) -> Expr | None:
    """What an assignment, a loop or a `with` takes its value from."""
    match node:
        case For() | Generator():
            return node.iter
        case WithItem():
            return node.context
        case _:
            return assigned_value(node)
