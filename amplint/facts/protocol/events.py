"""What each step of a scene means to the protocol, as far as the step itself tells: calls of scalers and optimizers,
backwards, clips and reads of gradients, escapes to functions that are not seen.

Knows nothing of paths: whether a loss was scaled before its backward is for the reader to say.
"""

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct, field

from amplint.facts.program.escapes import TOUCHING, is_harmless, is_touching
from amplint.facts.protocol.bound import is_bound_to
from amplint.facts.protocol.call_shapes import (
    goes_on,
    is_expected_to_raise,
    is_gradient_argument,
    is_infinite,
    mapped_scale,
    may_run_backward,
    takes_another,
)
from amplint.facts.protocol.gradients import Handling, assignment_handling, call_handling
from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.hidden_steps import hides_step
from amplint.facts.protocol.lost_sight import all_forgotten, record_read
from amplint.facts.protocol.own_steps import is_in_own_step, receiver
from amplint.facts.protocol.owners import Owners
from amplint.facts.protocol.places import is_known_place, is_of_many, is_part
from amplint.facts.protocol.ratios import is_of_a_ratio
from amplint.facts.protocol.roles import Roles, called_names
from amplint.facts.protocol.scene import Scene, is_lookup
from amplint.facts.protocol.sharing import Sharing
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.training_api import CLIP_FUNCTIONS, CLIP_NAMES, NORM_FUNCTIONS, QUIET_METHODS
from amplint.knowledge.training_names import FSDP
from amplint.model.tree import (
    Attribute,
    Call,
    Compare,
    Constant,
    Expr,
    Lambda,
    Node,
    WithItem,
)
from amplint.model.walks import assigned_value, is_none, last_name, targets


class Events(Struct, dict=True):
    """The events of a scene's steps."""

    scene: Scene
    roles: Roles
    _found: dict[Step, tuple[Happening, ...]] = field(default_factory=dict)

    def of(self, step: Step) -> tuple[Happening, ...]:
        """What a step does, in order."""
        if step not in self._found:
            found = tuple(self.sharing.spread(self._events(step)))
            if any(each.handling is not None for each in found) and is_in_own_step(self.scene, self.roles, step.frame):
                found = tuple(each for each in found if each.handling is None)
            is_probe = found and is_expected_to_raise(self.scene.homes[step.frame].index, step.node)
            gone = (Happening(EventKind.FORGET), *(Happening(EventKind.FORGET, each.scaler) for each in found))
            self._found[step] = gone if is_probe else found
        return self._found[step]

    @cached_property
    def sharing(self) -> Sharing:
        """Which objects may be one under two names."""
        return Sharing(self.roles)

    @cached_property
    def owners(self) -> Owners:
        """Whose parameters an expression is about."""
        return Owners(self.scene, self.roles)

    @property
    def has_step(self) -> bool:
        """Whether an optimizer steps by itself."""
        return any(
            happening.kind is EventKind.DIRECT_STEP for step, _ in self.scene.calls for happening in self.of(step)
        )

    @cached_property
    def _runs_backward(self) -> bool:
        return any(self._is_backward(call, step.frame) for step, call in self.scene.calls)

    def _events(self, step: Step) -> Iterator[Happening]:
        match step.kind, step.node:
            case StepKind.CALL, Call() as call:
                yield from self._call(self.scene.said(call, step.frame), step.frame)
            case StepKind.OPEN, Call(func=Attribute(attr="zero_grad" | "step") as func) as call:
                # An optimizer of the project's own may hand it on to one inside.
                optimizer = self.roles.optimizer(self.scene.place(func.value, step.frame))
                if optimizer is not None:
                    yield from self._optimizer_call(func.attr, call, optimizer, step.frame)
            case StepKind.BIND, WithItem(context=Call() as call):
                if last_name(call.func) == "scale_loss":
                    yield Happening(EventKind.FORGET)
            case StepKind.BIND, node:
                yield from self._assignment(node, step.frame)
            case StepKind.ABORT, item if (id(item), step.frame) in self.scene.callees.managed:
                yield from all_forgotten(self.roles)
            case StepKind.YIELD, _ if step.frame == 0 and not self._runs_backward:
                # Who iterates, or has the body of the `with`, runs it.
                yield Happening(EventKind.FORGET)
            case StepKind.TEST, Compare() as test:
                for side in (test.left, *test.comparators):
                    yield from record_read(self.scene, self.roles, side, step.frame)
            case _:
                pass

    def _assignment(self, node: Node, frame: int) -> Iterator[Happening]:
        handling = assignment_handling(node)
        if handling is not None:
            yield Happening(_KINDS[handling], None, self.owners.of(node, frame), handling=handling)
        value = assigned_value(node)
        yield from record_read(self.scene, self.roles, value, frame)
        for target in targets(node):
            yield from record_read(self.scene, self.roles, target, frame)
        if isinstance(value, Call) and not is_lookup(value):
            for target in targets(node):
                place = self.scene.place(target, frame)
                if place in self.roles.scalers:
                    yield Happening(EventKind.CREATE, place)
                elif place in self.roles.optimizers:
                    yield Happening(EventKind.ZERO, None, (place,))
                # A new object has optimizers of its own: what its predecessor of an earlier turn left is not theirs.
                held = (each for each in self.roles.optimizers if each != place and is_part(place, each))
                yield from (Happening(EventKind.FORGET, None, (each,)) for each in held if is_known_place(place))

    def _call(self, call: Call, frame: int) -> Iterator[Happening]:
        func = call.func
        place = self.scene.place(func.value, frame) if isinstance(func, Attribute) else None
        if isinstance(func, Attribute) and place in self.roles.scalers:
            yield from self._scaler_call(func.attr, call, place, frame)
        elif isinstance(func, Attribute) and (optimizer := self.roles.optimizer(place)) is not None:
            if place == optimizer or not self._is_handed_on(optimizer, frame):
                yield from self._optimizer_call(func.attr, call, optimizer, frame)
        elif self.sharing.may_be_scaler(call, frame):
            if call.args:
                yield Happening(EventKind.FORGET)
            for scaler in self.roles.scalers:
                yield Happening(EventKind.FORGET, scaler)
        elif isinstance(func, Attribute) and func.attr == "zero_grad":
            yield Happening(EventKind.ZERO, None, self.owners.of(func.value, frame, is_module=True))
        elif (mapped := self._mapped(call, frame)) is not None:
            yield Happening(EventKind.SCALE, mapped)
        elif self._is_backward(call, frame):
            yield from self._backward(call, frame)
        elif may_run_backward(last_name(func)) and not self.scene.does_else(call, frame):
            yield Happening(EventKind.FORGET)
        elif self.is_clip(call, frame):
            is_measure = any(is_infinite(argument.value) for argument in call.args)
            handling = Handling.READ if is_measure else Handling.CLIP
            yield Happening(_KINDS[handling], None, self.owners.of(call, frame), handling=handling)
        elif isinstance(func, Attribute) and self._is_sharded_clip(func, frame):
            owners = self.owners.of(func.value, frame, is_module=True)
            yield Happening(EventKind.CLIP, None, owners, handling=Handling.CLIP)
        elif (handled := call_handling(call)) is not None:
            if handled is not Handling.READ or not is_of_a_ratio(self.scene.homes[frame], call):
                yield Happening(_KINDS[handled], None, self.owners.of(call, frame), handling=handled)
        else:
            yield from self._escape(call, frame)

    def _mapped(self, call: Call, frame: int) -> Term | None:
        """The scaler whose `scale` a call maps over losses."""
        expr = mapped_scale(call)
        place = self.scene.place(expr, frame) if expr is not None else None
        return place if place in self.roles.scalers else None

    def _is_handed_on(self, optimizer: Term, frame: int) -> bool:
        """Whether a frame is that of a method of an optimizer, which the call of the method speaks for."""
        return receiver(self.scene, frame) == optimizer

    def _scaler_call(self, method: str, call: Call, scaler: Term, frame: int) -> Iterator[Happening]:
        first = call.args[0] if call.args else None
        match method:
            case "scale":
                yield Happening(EventKind.SCALE, scaler)
            case "unscale_" | "step" if first is not None and takes_another(first.value):
                yield Happening(EventKind.FORGET, scaler)
                yield Happening(EventKind.FORGET)
            case "unscale_" | "step" if first is not None and not first.star:
                kind = EventKind.UNSCALE if method == "unscale_" else EventKind.STEP
                optimizer = self.scene.place(first.value, frame)
                yield Happening(kind, scaler, (optimizer,) if optimizer in self.roles.optimizers else None)
            case "update" if is_of_many(scaler):
                # In the next turn of the loop it is another scaler's update.
                yield Happening(EventKind.FORGET, scaler)
            case "update":
                is_given = first is not None and not (isinstance(first.value, Constant) and first.value.value is None)
                yield Happening(EventKind.SET_SCALE if is_given else EventKind.UPDATE, scaler)
            case _ if method in QUIET_METHODS:
                pass
            case _:
                yield Happening(EventKind.FORGET, scaler)
                yield Happening(EventKind.FORGET)

    def _optimizer_call(self, method: str, call: Call, optimizer: Term, frame: int) -> Iterator[Happening]:
        if method == "zero_grad":
            yield Happening(EventKind.ZERO, None, (optimizer,))
        elif method == "step":
            # A scaler's own method has looked for infs in its own way.
            is_of_scaler = receiver(self.scene, frame) in self.roles.scalers
            is_told = any(not is_none(argument.value) for argument in call.args) or is_of_scaler
            yield Happening(EventKind.FORGET if is_told else EventKind.DIRECT_STEP, None, (optimizer,))
        elif any(part in method for part in TOUCHING):
            yield Happening(EventKind.FORGET, None, (optimizer,))

    def _is_backward(self, call: Call, frame: int) -> bool:
        if last_name(call.func) != "backward":
            return False
        return isinstance(call.func, Attribute) or self.scene.homes[frame].names.canonical(call.func) is not None

    def _backward(self, call: Call, frame: int) -> Iterator[Happening]:
        canonical = self.scene.homes[frame].names.canonical(call.func)
        first = next((a for a in call.args if a.name in (None, "tensors")), None)
        if canonical == "torch.autograd.backward" and first is not None:
            yield Happening(None, loss=first.value)
        elif isinstance(call.func, Attribute) and goes_on(call):
            yield Happening(None, loss=call.args[0].value)
        elif isinstance(call.func, Attribute) and (first is None or is_gradient_argument(first)):
            yield Happening(None, loss=call.func.value)
        elif isinstance(call.func, Attribute) and first is not None and self._is_scaled(first.value, frame):
            # A gradient given by hand takes the place of the loss: what lies beyond it had a backward of its own.
            yield Happening(None, None, self.owners.of_scalers, first.value)
        else:
            yield Happening(EventKind.FORGET)

    def _is_scaled(self, expr: Expr, frame: int) -> bool:
        """Whether an expression is what a scaler of the scene scales."""
        match expr:
            case Call(func=Attribute(attr="scale", value=scaler), args=(_, *_)):
                return self.scene.place(scaler, frame) in self.roles.scalers
            case _:
                return False

    def is_clip(self, call: Call, frame: int) -> bool:
        """Whether a call clips the gradients of parameters that it is given."""
        home = self.scene.homes[frame]
        names = home.names.meaning(call.func).names
        known = CLIP_FUNCTIONS | NORM_FUNCTIONS | frozenset(home.settings.clip_functions)
        if names & known:
            return True
        last = last_name(call.func)
        if not call.args:
            return False
        if last in CLIP_NAMES and (bool(names) or not isinstance(call.func, Attribute)):
            return True
        return "clip" in last.lower() and is_bound_to(self.scene, call, frame, known)

    def _is_sharded_clip(self, func: Attribute, frame: int) -> bool:
        """`model.clip_grad_norm_(limit)` of a model that FSDP shards: over all ranks, and as blind for the scale."""
        origins = self.scene.origins(func.value, frame) if func.attr == "clip_grad_norm_" else []
        return any(FSDP & called_names(origin) for origin in origins)

    def _escape(self, call: Call, frame: int) -> Iterator[Happening]:
        """A call of something unseen that receives a scaler, an optimizer, or the object that holds them."""
        if (id(call), frame) in self.scene.callees.harmless or is_harmless(self.scene.homes[frame], call):
            return
        if hides_step(self.scene.homes[frame], call.func):
            yield from all_forgotten(self.roles)
        given = [self.scene.place(a.value, frame) for a in call.args if not isinstance(a.value, Lambda)]
        is_abstract = (id(call), frame) in self.scene.callees.abstract
        if isinstance(call.func, Attribute) and is_touching(call.func.attr, is_abstract):
            given.append(self.scene.place(call.func.value, frame))
        for place in given:
            if not is_known_place(place):
                continue
            for scaler in self.roles.scalers:
                if is_part(place, scaler):
                    yield Happening(EventKind.FORGET, scaler)
                    yield Happening(EventKind.FORGET)
            for optimizer in self.roles.optimizers:
                if is_part(place, optimizer):
                    yield Happening(EventKind.FORGET, None, (optimizer,))


_KINDS = {
    Handling.CLIP: EventKind.CLIP,
    Handling.READ: EventKind.READ,
    Handling.CHANGE: EventKind.READ,
    Handling.ZERO: EventKind.ZERO,
    Handling.SET: EventKind.FORGET,
}
