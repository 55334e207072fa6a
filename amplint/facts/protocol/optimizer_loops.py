"""Loops whose turns go through optimizers: by their own target, or by a key that the target is.

Knows which loop moves which collection on; what happens in a turn is the reader's.
"""

from functools import cached_property

from msgspec import Struct, field

from amplint.facts.protocol.guards import Guards
from amplint.facts.protocol.places import is_of_many, is_part
from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import OPAQUE, Term, contains, parts
from amplint.model.data import Value
from amplint.model.tree import Assign, Attribute, Comprehension, Expr, For, Generator, Name, Node, Subscript
from amplint.model.walks import walk


class Use(Value):
    """A key by which an element is taken, and the loops around, from the inside."""

    key: Term
    loops: tuple[int, ...]


class OptimizerLoops(Struct, dict=True):
    """elements are the places that stand for the optimizers of a collection."""

    scene: Scene
    elements: frozenset[Term]
    _turning: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)
    _keyed: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)
    _switching: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._keys = element_keys(self.scene, self.elements) if self.elements else {}
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

    def next_turns(self, node: Node, frame: int) -> tuple[Term, ...]:
        """The collections of which another element is meant from a binding on: it was taken, or its key was."""
        return self.turning(node, frame) or self._switching.get((id(node), frame), ())

    def ending(self, loop: Node, frame: int) -> tuple[Term, ...]:
        """The collections whose elements a loop goes through until the one that is followed has had its turn."""
        return self.turning(loop, frame) or self._switching.get((id(loop), frame), ())

    @cached_property
    def confused(self) -> frozenset[Term]:
        """Collections that one loop asks by several keys, or by one that may be another at each look."""
        found: set[Term] = set()
        for place, uses in self._keys.items():
            by_loop: dict[tuple[int, ...], set[Term]] = {}
            for use in uses:
                by_loop.setdefault(use.loops, set()).add(use.key)
            if any(len(keys) > 1 for keys in by_loop.values()) or any(is_computed(use.key) for use in uses):
                found.add(place)
        return frozenset(found)

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
        taken = filter(is_of_many, (self.scene.place(name, step.frame) for name in names))
        found = (tuple(e for e in sorted(self.elements, key=repr) if is_part(place, e)) for place in taken)
        places = next((held for held in found if held), ())
        index = self.scene.homes[step.frame].index
        around = index.parents.get(node)
        if not places:
            self._switch(step, names, around if isinstance(around, Comprehension) else node)
            return
        self._turning[id(node), step.frame] = places
        if isinstance(around, Comprehension):
            self._turning[id(around), step.frame] = places
        if isinstance(node, Assign) and self.is_keyed(step):
            self._keyed[id(index.loops(node)[0]), step.frame] = places

    def _switch(self, step: Step, names: list[Name], loop: Node) -> None:
        """`for name in names: scaler.step(optimizers[name])`: the next key means the next optimizer."""
        bound = {self.scene.terms.of(name, step.frame) for name in names}
        places = tuple(
            place
            for place, uses in self._keys.items()
            if any(
                (id(loop) in use.loops or not isinstance(loop, For)) and any(contains(use.key, name) for name in bound)
                for use in uses
            )
        )
        if places:
            self._switching[id(step.node), step.frame] = places
            self._switching[id(loop), step.frame] = places


def element_keys(scene: Scene, elements: frozenset[Term]) -> dict[Term, set[Use]]:
    """The keys by which the calls of a scene take elements of collections, each with the loops around the call."""
    found: dict[Term, set[Use]] = {}
    for step, call in scene.calls:
        taken = [call.func.value] if isinstance(call.func, Attribute) else []
        for expr in (*taken, *(argument.value for argument in call.args[:1])):
            place = scene.place(expr, step.frame)
            index = _key(expr, scene, step.frame) if place in elements else None
            if index is not None:
                loops = scene.homes[step.frame].index.loops(call)
                key = scene.terms.of(index, step.frame)
                found.setdefault(place, set()).add(Use(key, tuple(map(id, loops))))
    return found


def _key(expr: Expr, scene: Scene, frame: int) -> Expr | None:
    """The key by which an expression, or what it is a part of, is taken from its collection."""
    while isinstance(expr, Subscript | Attribute):
        if isinstance(expr, Subscript) and scene.place(expr, frame)[0] == "each":
            return expr.index
        expr = expr.value
    return None


def is_computed(key: Term) -> bool:
    """Whether a key is the answer of a call, or nothing that is known: it may differ at each look."""
    return any(part[:1] in (("call",), OPAQUE) for part in parts(key))
