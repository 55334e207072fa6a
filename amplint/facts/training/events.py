"""What a stretch of program does for training: backward passes, optimizer steps, scheduler steps, also in callees.

Scalers, optimizers and schedulers are known by how they are made and by what is done with them; this module refuses
to know in which state a scaler is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.constants import is_false_for_good
from amplint.facts.program.constructors import Construction
from amplint.facts.program.reach import reached
from amplint.knowledge import training_names as known
from amplint.knowledge.training_api import OTHER_FRAMEWORKS
from amplint.model.data import Value
from amplint.model.tree import Attribute, Call, Expr, Name, Node
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

Handle = tuple[object, ...]


class EventKind(StrEnum):
    """What a call does for training."""

    BACKWARD = "backward"
    SCALER_STEP = "scaler step"
    OPTIMIZER_STEP = "optimizer step"
    SCHEDULER_STEP = "scheduler step"


class Event(Value):
    """A training call. via are the calls that lead to it, outermost first; is_looped: a loop on the way repeats it."""

    kind: EventKind
    facts: "Facts"
    call: Call
    via: tuple[Call, ...] = ()
    is_looped: bool = False

    @property
    def entry(self) -> Call:
        """The call in the stretch that was asked about."""
        return self.via[0] if self.via else self.call


def trained_models(facts: "Facts", optimizer: Call) -> Iterator[Expr]:
    """The models whose parameters() an optimizer gets where it is made."""
    for argument in optimizer.args[:1]:
        for origin in facts.values.origins(argument.value, is_local=True):
            for node in walk(origin.node) if origin.node is not None and origin.facts is facts else ():
                if isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr == "parameters":
                    yield node.func.value


class Training:
    """The training calls of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def handle(self, expr: Node) -> Handle | None:
        """What two expressions share when they are the same name of the same scope, or the same attribute of self."""
        match expr:
            case Name(id=name):
                found = self._facts.names.lookup(name, expr)
                return (found[0].scope if found else None, name)
            case Attribute(value=Name(id="self"), attr=attr):
                return (self._facts.index.klass(expr), "self", attr)
            case Attribute(value=value, attr=attr):
                base = self.handle(value)
                return (*base, attr) if base is not None else None
            case _:
                return None

    @cached_property
    def uses(self) -> dict[Handle, dict[str, list[Call]]]:
        """For each handle, the calls of its methods by method name."""
        found: dict[Handle, dict[str, list[Call]]] = defaultdict(lambda: defaultdict(list))
        for call in self._facts.index.calls:
            if isinstance(call.func, Attribute) and (handle := self.handle(call.func.value)) is not None:
                found[handle][call.func.attr].append(call)
        return found

    @cached_property
    def scalers(self) -> frozenset[Handle]:
        """Handles that scale losses or unscale gradients here."""
        return frozenset(
            handle
            for handle, methods in self.uses.items()
            if "unscale_" in methods
            or ("scale" in methods and ("update" in methods or self._is_scaled_backward(methods)))
            if not self._is_foreign(methods)
        )

    @cached_property
    def optimizers(self) -> frozenset[Handle]:
        """Handles that a scaler steps, or whose gradients are zeroed and which step themselves."""
        found = {handle for handle, methods in self.uses.items() if "zero_grad" in methods and "step" in methods}
        for scaler in self.scalers:
            for name in ("step", "unscale_"):
                for call in self.uses[scaler].get(name, ()):
                    if call.args and (handle := self.handle(call.args[0].value)) is not None:
                        found.add(handle)
        return frozenset(found - self.scalers)

    def is_scaler(self, expr: Node) -> bool:
        """Whether an expression is a gradient scaler."""
        return self.handle(expr) in self.scalers or bool(self.made_by(expr, known.is_scaler))

    def is_switched_off(self, made: Construction) -> bool:
        """Whether a scaler is made with a switch that is False for good."""
        switch = made.argument("enabled", known.enabled_at(made.name))
        return switch is not None and is_false_for_good(made.home(switch), switch.value)

    def _is_foreign(self, methods: dict[str, list[Call]]) -> bool:
        """Whether the scaler of some calls is made by a framework other than torch, with a protocol of its own."""
        func = next((call.func for name in ("scale", "unscale_") for call in methods.get(name, ())), None)
        return isinstance(func, Attribute) and bool(
            self.made_by(func.value, lambda name: name.startswith(OTHER_FRAMEWORKS))
        )

    def is_optimizer(self, expr: Node) -> bool:
        """Whether an expression is an optimizer."""
        return self.handle(expr) in self.optimizers or bool(self.made_by(expr, known.is_optimizer))

    def made_by(self, expr: Node, is_wanted: "known.IsName") -> list[Construction]:
        """The constructions, with a wanted canonical name, that a value may come from."""
        return [
            made
            for origin in self._facts.values.origins(expr)
            if isinstance(origin.node, Call)
            for made in origin.facts.constructors.of(origin.node)
            if is_wanted(made.name)
        ]

    def kind(self, call: Call) -> EventKind | None:
        """What a call itself does for training."""
        func = call.func
        if not isinstance(func, Attribute):
            return None
        if func.attr == "backward":
            return EventKind.BACKWARD if self._is_backward(call, func) else None
        if func.attr != "step":
            return EventKind.BACKWARD if self._facts.names.canonical(func) == "torch.autograd.backward" else None
        return self._step_kind(call, func.value)

    def within(self, roots: Iterable[Node]) -> Iterator[Event]:
        """The training calls below some nodes and in what they call, not in functions that are only defined there."""
        for each in reached(self._facts, roots, kind=Call):
            kind = each.facts.training.kind(each.node) if isinstance(each.node, Call) else None
            if kind is not None and isinstance(each.node, Call):
                yield Event(kind, each.facts, each.node, each.via, each.is_looped)

    def _step_kind(self, call: Call, receiver: Expr) -> EventKind | None:
        if call.args and self.is_scaler(receiver):
            return EventKind.SCALER_STEP
        if self.is_optimizer(receiver):
            return EventKind.OPTIMIZER_STEP
        return EventKind.SCHEDULER_STEP if self._facts.schedulers.is_scheduler(receiver) else None

    def _is_backward(self, call: Call, func: Attribute) -> bool:
        canonical = self._facts.names.canonical(func)
        if canonical is not None:
            return canonical == "torch.autograd.backward"
        if isinstance(func.value, Name) and func.value.id in ("self", "cls", "ctx"):
            return False
        if isinstance(func.value, Call) and self._facts.names.canonical(func.value.func) == "builtins.super":
            return False
        return self._facts.targets.function(call) is None

    def _is_scaled_backward(self, methods: dict[str, list[Call]]) -> bool:
        parents = self._facts.index.parents
        return any(
            isinstance(parent := parents.get(call), Attribute) and parent.attr == "backward"
            for call in methods.get("scale", ())
        )
