"""What is true at one point of a path: the protocol's state, and which values are losses multiplied by which scale.

Knows which expressions hand a scaled loss on; knows nothing of the order of events.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from amplint.facts.program.index import Index
from amplint.facts.program.names import Binding
from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Step
from amplint.flow.terms import Term, is_place
from amplint.knowledge.protocol import Gradients, Stage
from amplint.knowledge.state import OptimizerState, State
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Await,
    Binary,
    BoolOp,
    Call,
    Comprehension,
    Dict,
    Expr,
    For,
    FunctionDef,
    Generator,
    IfExp,
    List,
    Name,
    NamedExpr,
    Node,
    Starred,
    Subscript,
    Tuple,
    Unary,
)
from amplint.model.walks import last_name, walk

Scalers = frozenset[Term]
Results = frozenset[tuple[int, Term]]
IDLE = frozenset({Gradients.UNKNOWN, Gradients.CLEAN, Gradients.SPENT, Gradients.DROPPED})
UNDER_WAY = frozenset({Stage.UNSCALED, Stage.STEPPED})
NO_SCALERS: Scalers = frozenset()
NO_RESULTS: Results = frozenset()
# What these give is a number or a tensor outside the graph: nothing to run backward from.
DETACHING = frozenset({"item", "detach", "tolist", "numpy", "cpu", "get_scale", "size", "dim"})
HANDING_ON = frozenset(
    {"cast", "sum", "mean", "stack", "cat", "squeeze", "float", "tuple", "list", "add", "mul", "div"}
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A point of a path.

    scaled: places that hold a scaled loss, with the scaler. results: calls whose value is one, until it is used.
    turns: collections of optimizers, each with whether the optimizer followed has had its turn in the running loop,
    and whether the current turn is its own.
    """

    protocol: State
    scaled: frozenset[tuple[Term, Term]] = frozenset()
    results: Results = frozenset()
    turns: frozenset[tuple[Term, bool, bool]] = field(default_factory=frozenset)
    is_unknown: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether no step is under way: no gradients wait for one, and no scaler remembers one."""
        # Loops and not `any`: this is asked at every call in a `try`.
        for _, optimizer in self.protocol.optimizers:
            if optimizer.gradients not in IDLE:
                return False
        for _, record in self.protocol.scalers:
            for _, stage in record.stages:
                if stage in UNDER_WAY:
                    return False
        return True

    def turn(self, place: Term) -> tuple[bool, bool] | None:
        """(has had its turn, is the current one), None outside loops over the collection."""
        return next(((had, now) for known, had, now in self.turns if known == place), None)

    def with_turn(self, place: Term, turn: tuple[bool, bool] | None) -> "Standing":
        """The same point with another turn of a collection."""
        kept = frozenset(entry for entry in self.turns if entry[0] != place)
        return replace(self, turns=kept if turn is None else kept | {(place, *turn)})


def start(optimizers: tuple[Term, ...]) -> Standing:
    """The point before a function that nothing is known of."""
    known = tuple(
        sorted(((place, OptimizerState(Gradients.UNKNOWN)) for place in optimizers), key=lambda p: repr(p[0]))
    )
    return Standing(State((), known))


@dataclass
class Losses:
    """Follows scaled losses through expressions and assignments of a scene."""

    scene: Scene

    def scalers(self, expr: Node, frame: int, here: Standing) -> Scalers:
        """The scalers whose scale the value of an expression carries."""
        if not here.scaled and not here.results:
            return NO_SCALERS
        return self._scalers(expr, frame, here)

    def _scalers(self, expr: Node, frame: int, here: Standing) -> Scalers:
        match expr:
            case Name() | Attribute() | Subscript():
                return self._held(expr, frame, here)
            case Call():
                return self._returned(expr, frame, here)
            case NamedExpr(target=Name() as target):
                return self._held(target, frame, here) | self._scalers(expr.value, frame, here)
            case Await() | Starred():
                return self._scalers(expr.value, frame, here)
            case Unary():
                return self._scalers(expr.operand, frame, here)
            case Binary():
                return self._scalers(expr.left, frame, here) | self._scalers(expr.right, frame, here)
            case IfExp():
                return self._scalers(expr.body, frame, here) | self._scalers(expr.orelse, frame, here)
            case BoolOp() | Dict():
                return self._any(expr.values, frame, here)
            case Tuple() | List():
                return self._any(expr.elts, frame, here)
            case Comprehension():
                return self._scalers(expr.element, frame, here)
            case _:
                return NO_SCALERS

    def _any(self, parts: tuple[Expr, ...], frame: int, here: Standing) -> Scalers:
        return NO_SCALERS.union(*(self._scalers(part, frame, here) for part in parts))

    def _held(self, expr: Name | Attribute | Subscript, frame: int, here: Standing) -> Scalers:
        place = self.scene.terms.of(expr, frame)
        found = frozenset(scaler for held, scaler in here.scaled if held == place)
        if found or isinstance(expr, Name):
            return found
        return self._scalers(expr.value, frame, here) if isinstance(expr, Subscript) else NO_SCALERS

    def _returned(self, call: Call, frame: int, here: Standing) -> Scalers:
        found = frozenset(scaler for result, scaler in here.results if result == id(call))
        if found:
            return found
        func = call.func
        name = last_name(func)
        if name in DETACHING:
            return NO_SCALERS
        if isinstance(func, Attribute):
            found = self._scalers(func.value, frame, here)
        if not found and name in HANDING_ON:
            found = self._any(tuple(argument.value for argument in call.args), frame, here)
        return found

    def is_plain(self, loss: Expr, frame: int) -> bool:
        """Whether a loss that carries no scale was surely made here, so that nobody unseen can have scaled it."""
        root: Node = loss
        while isinstance(root, Attribute | Subscript | Call):
            root = root.func if isinstance(root, Call) else root.value
        term = self.scene.terms.of(root, frame)
        if not isinstance(root, Name) or not is_place(term):
            return True
        _, name, owner = term
        if not isinstance(owner, int):
            return True
        function = self.scene.frames[owner].function
        bindings = self.scene.homes[owner].names.bindings(function).get(str(name), ())
        values = [binding.value for binding in bindings if binding.value is not None]
        if any(_may_scale(value) for value in values) or self._hold_gradients(bindings, owner):
            return False
        if any(binding.kind == "parameter" for binding in bindings):
            return bool(values)
        return bool(bindings)

    def _hold_gradients(self, bindings: Iterable[Binding], frame: int) -> bool:
        """Whether a `.grad` went into a value: it may carry the scale of the backward that left it there."""
        home = self.scene.homes[frame]
        stack = [node for binding in bindings for node in _given(home.index, binding)]
        seen: set[int] = set()
        while stack:
            for node in walk(stack.pop()):
                if isinstance(node, Attribute) and node.attr == "grad":
                    return True
                for binding in home.names.lookup(node.id, node) if isinstance(node, Name) else ():
                    if id(binding.node) not in seen and isinstance(binding.scope, FunctionDef | Comprehension):
                        seen.add(id(binding.node))
                        stack.extend(_given(home.index, binding))
        return False

    def assigned(self, step: Step, here: Standing) -> Standing:
        """After an assignment: its targets hold what its value carries."""
        node = step.node
        match node:
            case Assign():
                targets, value = node.targets, node.value
            case AnnAssign() | AugAssign() | NamedExpr():
                if node.value is None:
                    return here
                targets, value = (node.target,), node.value
            case _:
                return here
        scaled = here.scaled
        carried = self.scalers(value, step.frame, here)
        for target in targets:
            for part, of_part in self._parts(target, value, carried, step.frame, here):
                place = self.scene.terms.of(part, step.frame)
                kept = isinstance(node, AugAssign)
                scaled = scaled if kept else frozenset(pair for pair in scaled if pair[0] != place)
                scaled |= {(place, scaler) for scaler in of_part}
        return replace(here, scaled=scaled, results=frozenset()) if here.scaled or here.results else here

    def _parts(
        self, target: Expr, value: Expr, carried: Scalers, frame: int, here: Standing
    ) -> list[tuple[Expr, Scalers]]:
        if not isinstance(target, Tuple | List):
            return [(target, carried)]
        if isinstance(value, Tuple | List) and len(value.elts) == len(target.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return [(part, self.scalers(given, frame, here)) for part, given in pairs]
        return [(part, carried) for part in target.elts]

    def opened(self, step: Step, here: Standing) -> Standing:
        """At the start of a call: its parameters hold what its arguments carry."""
        scaled = here.scaled
        for passing in self.scene.frames[step.opened].passed:
            place: Term = ("name", passing.parameter.name, step.opened)
            scaled = frozenset(pair for pair in scaled if pair[0] != place)
            if passing.value is not None:
                scaled |= {(place, s) for s in self.scalers(passing.value, passing.frame, here)}
        return replace(here, scaled=scaled) if scaled != here.scaled else here


def carries(protocol: State, scaler: Term) -> bool:
    """Whether some gradients carry the scale of a scaler, or did until it was divided away."""
    held = (Gradients.SCALED, Gradients.STALE, Gradients.UNSCALED)
    return any(scaler in state.scalers and state.gradients in held for _, state in protocol.optimizers)


def _may_scale(value: Node) -> bool:
    """Whether a value comes from a call that may scale: one named so."""
    callees = (node.func for node in walk(value) if isinstance(node, Call))
    names = (f.attr if isinstance(f, Attribute) else f.id for f in callees if isinstance(f, Attribute | Name))
    return any("scale" in name.lower() for name in names)


def _given(index: Index, binding: Binding) -> Iterator[Node]:
    """What a binding takes its value from: what is assigned, or what a loop goes through."""
    if binding.value is not None:
        yield binding.value
        return
    around: Node | None = binding.node
    while isinstance(around, Name | Tuple | List | Starred):
        around = index.parents.get(around)
    if isinstance(around, For | Generator):
        yield around.iter
    elif isinstance(around, Assign):
        yield around.value
