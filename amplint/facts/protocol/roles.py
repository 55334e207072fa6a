"""Which places of a scene hold scalers and which hold optimizers: known by construction, or by what is done with them.

Never by a name alone. A scaler that is switched off for good is no scaler; one that depends on a flag remembers it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.classes import base_names, method, seen_class
from amplint.facts.program.origins import Origin, Origins
from amplint.facts.protocol.places import is_known_place, is_of_many, owner_of
from amplint.facts.protocol.scaler_arms import chosen_switch
from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import StepKind
from amplint.flow.terms import OPAQUE, Term
from amplint.knowledge.training_api import OTHER_FRAMEWORKS
from amplint.knowledge.training_names import SCALER_CLASSES, enabled_at, is_optimizer
from amplint.model.data import Value
from amplint.model.tree import Assign, Attribute, Call, ClassDef, Expr, Name, Node
from amplint.model.walks import is_none, last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

PARAMETER_METHODS = ("parameters", "named_parameters")
ASKING = "is_enabled"
SCALER_METHODS = frozenset({"scale", "unscale_", "step", "update"})


class ScalerRole(Value):
    """A scaler.

    enabled is the term of its `enabled` argument, None where it is always on or nothing is known; made are the
    identities of the calls that may have made it, None where it may be something else.
    """

    place: Term
    enabled: Term | None = None
    made: frozenset[int] | None = None


class OptimizerRole(Value):
    """An optimizer.

    modules are the places whose parameters it was given, () where that is not known; made is as that of a scaler.
    """

    place: Term
    modules: tuple[Term, ...] = ()
    made: frozenset[int] | None = None

    @property
    def is_element(self) -> bool:
        """Whether it stands for the elements of a collection, or for what each of them holds."""
        return is_of_many(self.place)


class Roles(Struct):
    """The scalers and optimizers of a scene, by place."""

    scene: Scene
    scalers: dict[Term, ScalerRole] = field(default_factory=dict)
    optimizers: dict[Term, OptimizerRole] = field(default_factory=dict)

    def __post_init__(self) -> None:
        uses: dict[Term, dict[str, list[tuple[Call, int]]]] = {}
        for step, written in self.scene.calls:
            call = self.scene.said(written, step.frame)
            if isinstance(call.func, Attribute) and step.kind is StepKind.CALL:
                place = self.scene.place(call.func.value, step.frame)
                if is_known_place(place):
                    uses.setdefault(place, {}).setdefault(call.func.attr, []).append((call, step.frame))
        zeroed = {place for place, methods in uses.items() if "zero_grad" in methods}
        for place, methods in uses.items():
            role = self._scaler(place, methods, zeroed)
            if role is not None:
                self.scalers[place] = role
        for place, expr, frame in [*self._served(), *self._direct(uses)]:
            if place not in self.optimizers and place not in self.scalers:
                modules, made = tuple(self._modules(expr, frame)), self._made(expr, frame)
                self.optimizers[place] = OptimizerRole(place, modules, made)
        for place in [place for place in self.optimizers if owner_of(place) in self.optimizers]:
            del self.optimizers[place]

    def optimizer(self, place: Term | None) -> Term | None:
        """The optimizer that a place holds: one inside another optimizer, which hands everything on to it, is that."""
        owner = owner_of(place) if place is not None else None
        return place if place in self.optimizers else owner if owner in self.optimizers else None

    def _scaler(
        self, place: Term, methods: "dict[str, list[tuple[Call, int]]]", zeroed: set[Term]
    ) -> ScalerRole | None:
        used = [pair for name, pairs in methods.items() if name in SCALER_METHODS for pair in pairs]
        if not used:
            return None
        # What `super()` is, only the object that it stands for can tell.
        call, frame = next((pair for pair in used if not _is_of_super(pair[0])), used[0])
        assert isinstance(call.func, Attribute)
        search = Origins()
        found = list(search.of(self.scene.homes[frame], call.func.value, self.scene.activation(frame)))
        if found and search.is_complete and all(is_none(origin.expr) for origin in found):
            return None
        names = {name for origin in found for name in called_names(origin)}
        if any(name.startswith(OTHER_FRAMEWORKS) for name in names | _bases(found)):
            return None
        made = [origin for origin in found if self._makes_scaler(origin)]
        if not made:
            is_used_so = self._is_scaler_by_use(methods, found) or self._ends_its_round(place, methods, zeroed, found)
            return ScalerRole(place) if is_used_so else None
        if 0 < sum(method(facts, klass, "step") is not None for facts, klass in _classes(made)) < len(made):
            return None  # What a step does depends on which of them it is.
        switches = [self._enabled(origin, frame, place) for origin in made]
        if all(switch == ("const", "bool", False) for switch in switches):
            return None
        calls = frozenset(id(origin.expr) for origin in made) if len(made) == len(found) else None
        others = [origin for origin in found if origin not in made]
        others = others if search.is_complete and all(map(_stands_in, others)) else []
        chosen = chosen_switch(self.scene, made, switches, others, frame, owner_of(place))
        return ScalerRole(place, chosen or _agreed(switches), calls)

    def _is_scaler_by_use(self, methods: "dict[str, list[tuple[Call, int]]]", origins: list[Origin]) -> bool:
        """`unscale_` is a scaler's alone; `scale` is, where its result runs backward or the round goes on.

        Methods that are seen, and have nothing to do with training, make an object of some other kind.
        """
        called = SCALER_METHODS & methods.keys()
        calls = [pair for name in called for pair in methods[name]]
        if any(self.scene.homes[frame].targets.function(call) is not None for call, frame in calls):
            return False
        if any(method(facts, klass, name) is not None for facts, klass in _classes(origins) for name in called):
            return False
        if "unscale_" in methods:
            return True
        if "update" in methods or any(call.args for call, _ in methods.get("step", ())):
            return "scale" in methods
        return any(self._runs_backward(call, frame) for call, frame in methods.get("scale", ()))

    def _ends_its_round(
        self, place: Term, methods: "dict[str, list[tuple[Call, int]]]", zeroed: set[Term], origins: list[Origin]
    ) -> bool:
        """A parameter called a scaler that steps what is zeroed, and updates: one whose `scale` was forgotten."""
        is_given = all(not isinstance(o.expr, Call) for o in origins)
        is_named = place[0] in ("name", "attr") and any("scaler" in str(part) for part in place[1:])
        if not is_given or not is_named or not methods.keys() <= SCALER_METHODS - {"scale"}:
            return False
        stepped = [(call.args[0], frame) for call, frame in methods.get("step", ()) if call.args]
        is_updated = any(not call.args for call, _ in methods.get("update", ()))
        return is_updated and any(self.scene.place(a.value, frame) in zeroed for a, frame in stepped if not a.star)

    def _runs_backward(self, call: Call, frame: int) -> bool:
        around = self.scene.homes[frame].index.parents.get(call)
        return isinstance(around, Attribute) and around.attr == "backward"

    def _makes_scaler(self, origin: Origin) -> bool:
        if not isinstance(origin.expr, Call):
            return False
        names = origin.facts.names.meaning(origin.expr.func).names
        house = frozenset(origin.facts.settings.scaler_names)
        return any(name in SCALER_CLASSES or name in house or _is_subclass(origin, name) for name in names)

    def _enabled(self, origin: Origin, frame: int, place: Term) -> Term | None:
        """The term of `enabled`, where the constructor was given one."""
        call = origin.expr
        assert isinstance(call, Call)
        names = origin.facts.names.meaning(call.func).names
        positions = {enabled_at(name) for name in names}
        position = positions.pop() if len(positions) == 1 else None
        positional = [argument.value for argument in call.args if not argument.star and argument.name is None]
        given: Expr | None = next((a.value for a in call.args if a.name == "enabled"), None)
        if given is None and position is not None and len(positional) > position:
            given = positional[position]
        if given is None:
            return None
        return self.scene.local_or_foreign(origin.facts, given, frame, owner_of(place))

    def _served(self) -> Iterator[tuple[Term, Expr, int]]:
        """What scalers step and unscale."""
        for step, written in self.scene.calls:
            call = self.scene.said(written, step.frame)
            func = call.func
            if not isinstance(func, Attribute) or func.attr not in ("step", "unscale_") or not call.args:
                continue
            if self.scene.place(func.value, step.frame) in self.scalers and not call.args[0].star:
                place = self.scene.place(call.args[0].value, step.frame)
                if is_known_place(place):
                    yield place, call.args[0].value, step.frame

    def _direct(self, uses: "dict[Term, dict[str, list[tuple[Call, int]]]]") -> Iterator[tuple[Term, Expr, int]]:
        """What is stepped by itself, and is an optimizer by its construction or because its gradients are zeroed."""
        for place, methods in uses.items():
            if "step" not in methods and "zero_grad" not in methods:
                continue
            call, frame = methods.get("step", methods.get("zero_grad", []))[0]
            assert isinstance(call.func, Attribute)
            # What runs backward by itself is an engine, as DeepSpeed's, which scales and steps inside.
            if "backward" in methods or self._is_of_framework(call.func.value, frame):
                continue
            is_named = "step" in methods and bool(self.scalers) and self._is_named_optimizer(call, frame)
            if {"step", "zero_grad"} <= methods.keys() or is_named or self._is_optimizer(call.func.value, frame):
                yield place, call.func.value, frame

    def _is_named_optimizer(self, call: Call, frame: int) -> bool:
        """`self.optimizer.step()` beside a scaler, where it is not seen what the optimizer is."""
        assert isinstance(call.func, Attribute)
        is_named = last_name(call.func.value) in ("optimizer", "optim", "opt") and not call.args
        found = self.scene.origins(call.func.value, frame) if is_named else []
        return is_named and not any(_classes(found))

    def _is_of_framework(self, expr: Expr, frame: int) -> bool:
        """Whether a value is what `self.optimizers()` of a LightningModule gives: its step asks Lightning's scaler."""
        given: list[Node | None] = [origin.expr for origin in self.scene.origins(expr, frame)]
        home = self.scene.homes[frame]
        for binding in home.names.lookup(expr.id, expr) if isinstance(expr, Name) else ():
            holder = home.index.parents.get(binding.node)
            statement = home.index.parents.get(holder) if holder is not None else None
            given.append(statement.value if isinstance(statement, Assign) else None)
        calls = [each for each in given if isinstance(each, Call) and not each.args]
        return any(isinstance(call.func, Attribute) and call.func.attr == "optimizers" for call in calls)

    def _is_optimizer(self, expr: Expr, frame: int) -> bool:
        return any(
            is_optimizer(name) or _is_optimizer_class(origin, name)
            for origin in self.scene.origins(expr, frame)
            for name in called_names(origin)
        )

    def _made(self, expr: Expr, frame: int) -> frozenset[int] | None:
        """The calls of optimizers' classes that may have made one."""
        origins = self.scene.origins(expr, frame)
        is_known = all(any(map(is_optimizer, called_names(origin))) for origin in origins)
        return frozenset(id(origin.expr) for origin in origins) if is_known and origins else None

    def _modules(self, expr: Expr, frame: int) -> Iterator[Term]:
        """The places whose parameters an optimizer was made of."""
        for origin in self.scene.origins(expr, frame):
            if isinstance(origin.expr, Call) and origin.expr.args:
                me = owner_of(self.scene.place(expr, frame))
                for module in parameter_sources(origin.expr.args[0].value):
                    term = self.scene.local_or_foreign(origin.facts, module, frame, me)
                    if OPAQUE not in (term, term[1:2]):
                        yield term


def _is_of_super(call: Call) -> bool:
    """Whether a method is called as a base has it: `super().step(optimizer)`."""
    receiver = call.func.value if isinstance(call.func, Attribute) else None
    return isinstance(receiver, Call) and last_name(receiver.func) == "super"


def parameter_sources(expr: Node) -> Iterator[Expr]:
    """`m` of every `m.parameters()` or `m.named_parameters()` in an expression."""
    for node in walk(expr):
        if isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr in PARAMETER_METHODS:
            yield node.func.value


def called_names(origin: Origin) -> frozenset[str]:
    """The dotted names of the callable whose call an origin is."""
    return origin.facts.names.meaning(origin.expr.func).names if isinstance(origin.expr, Call) else frozenset()


def _agreed(switches: list[Term | None]) -> Term | None:
    """What switches a scaler that is made in several places: where some are always on, it may be the others' switch."""
    different = set(switches) - {("const", "bool", True), None}
    if len(different) > 1 or (("const", "bool", False) in different and len(set(switches)) > 1):
        return OPAQUE
    return different.pop() if different else None


def _bases(origins: list[Origin]) -> set[str]:
    """The classes, by their dotted names, that the classes of some values are made of."""
    return {base for facts, klass in _classes(origins) for base in base_names(facts, klass)}


def _classes(origins: list[Origin]) -> "Iterator[tuple[Facts, ClassDef]]":
    """The classes in sight that some values are made of."""
    for origin in origins:
        for name in called_names(origin):
            klass = seen_class(origin.facts, name)
            if klass is not None:
                yield klass


def _stands_in(origin: Origin) -> bool:
    """Whether what may be there instead of a scaler is nothing, or an object of a class in sight."""
    return is_none(origin.expr) or any(_classes([origin]))


def _is_subclass(origin: Origin, name: str) -> bool:
    klass = seen_class(origin.facts, name)
    return klass is not None and not SCALER_CLASSES.isdisjoint(base_names(*klass))


def _is_optimizer_class(origin: Origin, name: str) -> bool:
    klass = seen_class(origin.facts, name)
    return klass is not None and any(map(is_optimizer, base_names(*klass)))
