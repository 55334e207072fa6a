"""Training that runs inside autocast regions, also through callees, and whether it reads stale half-precision weights.

Refuses to know which operations of a forward pass autocast.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Autocast, Region, is_switched_off
from amplint.facts.program.branches import are_exclusive, sides
from amplint.facts.program.given import may_run
from amplint.facts.program.reach import Reached
from amplint.facts.program.spelling import spelled
from amplint.facts.training.events import Event, EventKind, Handle, trained_models
from amplint.facts.training.schedulers import is_over_optimizers
from amplint.knowledge import training_names as known
from amplint.model.data import Entity
from amplint.model.tree import (
    Attribute,
    Binary,
    Call,
    ClassDef,
    Compare,
    Expr,
    For,
    FunctionDef,
    Node,
    Return,
    Stmt,
    Try,
    Unary,
    While,
    With,
)
from amplint.model.walks import dotted, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_BOOKKEEPING = frozenset(
    {
        *("scale", "backward", "unscale_", "step", "update", "zero_grad", "clip_grad_norm_", "clip_grad_value_"),
        *("item", "detach", "isfinite", "isnan", "isinf", "parameters", "get_scale", "append", "add_", "set_postfix"),
    }
)
_BUILTINS = frozenset({"builtins.float", "builtins.print", "builtins.len", "builtins.isinstance"})
NEGATED = {"!=": "==", "is not": "is", "not in": "in"}
_STEPS = (EventKind.SCALER_STEP, EventKind.OPTIMIZER_STEP)


class Enclosed(Entity):
    """The backward passes and optimizer steps in one region, in source order.

    stale_step is the first step after which a forward in the same region still uses the weights cast before it.
    """

    region: Region
    backwards: tuple[Event, ...]
    steps: tuple[Event, ...]
    stale_step: Event | None


class EnclosedTraining:
    """The training inside the regions of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._found: dict[Region, Enclosed] = {}

    def stale(self) -> Iterator[Enclosed]:
        """The outermost regions in which a forward follows an optimizer step."""
        yield from self._outermost_stale

    @cached_property
    def harmless(self) -> tuple[Enclosed, ...]:
        """For each region that is not stale, the backward passes and steps that no inner region holds."""
        return tuple(self._harmless())

    def _harmless(self) -> Iterator[Enclosed]:
        covered = {event.call for enclosed in self._outermost_stale for event in (*enclosed.backwards, *enclosed.steps)}
        seen: set[Call] = set(covered)
        for region in reversed(self._facts.regions.all):
            # A custom backward that computes its forward again enters what the forward ran in, as `custom_bwd` does.
            if region.is_plain or self._facts.autograd_functions.is_in_backward(region.opening):
                continue
            enclosed = self._enclosed(region)
            backwards = _first(enclosed.backwards, seen)
            steps = _first(enclosed.steps, seen)
            seen.update(event.call for event in (*backwards, *steps))
            if backwards or steps:
                yield Enclosed(region, backwards, steps, None)

    def movable_tail(self, enclosed: Enclosed) -> Stmt | None:
        """The statement from which a region can end earlier: all that follows is backward, steps and bookkeeping."""
        opening = enclosed.region.opening
        owner = self._facts.index.parents.get(opening)
        if not isinstance(owner, With) or len(owner.items) != 1 or owner.items[0].target is not None:
            return None
        own = {event.call for event in enclosed.backwards if not event.via}
        for place, statement in enumerate(owner.body):
            if any(node in own for node in walk(statement)):
                tail = owner.body[place:]
                return statement if place and all(_is_bookkeeping(self._facts, each) for each in tail) else None
        return None

    @cached_property
    def _outermost_stale(self) -> list[Enclosed]:
        found: list[Enclosed] = []
        seen: set[Call] = set()
        for region in self._facts.regions.all:
            if region.is_plain or not all(autocast.is_cached for autocast in region.autocasts):
                continue
            enclosed = self._enclosed(region)
            # What a callee steps is told at each region that calls it, and not again in the callee itself.
            if enclosed.stale_step is not None and enclosed.stale_step.entry not in seen:
                seen.update(call for event in enclosed.steps for call in (event.call, event.entry))
                found.append(enclosed)
        return found

    def _enclosed(self, region: Region) -> Enclosed:
        if region not in self._found:
            self._found[region] = self._enclosed_in(region)
        return self._found[region]

    def _enclosed_in(self, region: Region) -> Enclosed:
        events = [
            e
            for e in self._facts.training.within(region.body)
            if not is_switched_off(Reached(e.facts, e.call, e.via), region) and not self._is_off_at(region, e.entry)
        ]
        backwards = tuple(e for e in events if e.kind is EventKind.BACKWARD and not _has_own_region(e))
        steps = tuple(e for e in events if e.kind in _STEPS)
        return Enclosed(region, backwards, steps, self._stale_step(events))

    def _is_off_at(self, region: Region, place: Node) -> bool:
        """Whether a place runs only where a region is off: a test around it gives the answer that turns it off.

        The test may be of the region's switch, or the one that chooses between autocast and another context.
        """
        here = set(self._answers(place))
        return bool(region.autocasts) and all(
            any((test, not answer) in here for test, answer in self._needed(autocast)) for autocast in region.autocasts
        )

    def _needed(self, autocast: Autocast) -> Iterator[tuple[str, bool]]:
        """The answers with which an autocast object is made and on."""
        if autocast.switch is not None:
            yield from _answer(autocast.switch, is_true=True)
        if autocast.facts is self._facts:
            yield from self._answers(autocast.call)

    def _answers(self, place: Node) -> Iterator[tuple[str, bool]]:
        """The tests that must give an answer for a place to run."""
        for side in sides(self._facts, place):
            yield from _answer(side.choice.test, is_true=side.is_true)

    def _stale_step(self, events: list[Event]) -> Event | None:
        is_repeated = any(event.kind is EventKind.BACKWARD and event.is_looped for event in events)
        for place, event in enumerate(events):
            if event.kind not in _STEPS:
                continue
            if is_repeated and event.is_looped and not is_over_optimizers(event):
                return event
            for later in events[place + 1 :]:
                if later.kind is not EventKind.BACKWARD or not _follows(later, event):
                    continue
                if _is_read_again(event, later):
                    return event
        return None

    @cached_property
    def _models(self) -> tuple[tuple[Call, str], ...]:
        """The calls of what may be a model: of a variable or an attribute, as it is written."""
        return tuple(
            (call, name)
            for call in self._facts.index.calls
            if (name := spelled(call.func)) and self._facts.names.canonical(call.func) is None
            if not isinstance(call.func, Attribute) or call.func.attr not in _BOOKKEEPING
        )

    def is_used_between(self, step: Event, later: Event) -> bool:
        """Whether a model that a step may have changed is named between the step and a later backward pass.

        Where nobody knows what the optimizer trains, it may be whatever was called before the step, or what a function
        in sight calls. Nothing called between the two is no forward.
        """
        training = self._facts.training
        changed = self._changed(step)
        function = self._facts.index.function(step.call)
        if None in changed:
            called = [(call, name) for call, name in self._models if self._facts.index.function(call) is function]
            before = {name for call, name in called if call.span < step.call.span}
            if any(
                _is_between(call, step, later) and self._facts.targets.function(call)
                for call in self._facts.index.calls
            ):
                return True
            between = {name for call, name in called if _is_between(call, step, later)}
            return bool(between) and (not before or not before.isdisjoint(between))
        named = [node for node in self._facts.index.nodes if training.handle(node) in changed]
        # A function that is called may know what it steps by another name than the one the optimizer was made of.
        if step.via and not any(self._facts.index.function(node) is function for node in named):
            return True
        return any(_is_between(node, step, later) and self._may_follow(node, step, function) for node in named)

    def _may_follow(self, node: Node, step: Event, function: Node | None) -> bool:
        """Whether a node of a function may run behind a step, in the call that leads there."""
        if isinstance(function, FunctionDef) and step.via and not may_run(self._facts, function, step.via[-1], node):
            return False
        return not are_exclusive(self._facts, step.call, node)

    def _changed(self, step: Event) -> set[Handle | None]:
        """The models that a step may have changed; None among them is one that nobody knows."""
        training = self._facts.training
        changed: set[Handle | None] = set()
        for made in training.made_by(_stepped(step), known.is_optimizer):
            models = list(trained_models(self._facts, made.call)) if made.facts is self._facts else []
            changed |= {training.handle(model) for model in models} if models else {None}
        return changed or {None}


def _is_read_again(step: Event, later: Event) -> bool:
    """Whether a forward between a step and a later backward pass may use what was stepped.

    Told of one function alone, the region's own or one that it calls; between two anything may be called.
    """
    if step.via != later.via or step.facts is not later.facts:
        return True
    return step.facts.enclosed.is_used_between(step, later)


def _is_between(node: Node, step: Event, later: Event) -> bool:
    """Whether a node runs behind a step and before, or as part of, a later backward pass."""
    return step.call.span < node.span and (node.span < later.call.span or later.call.span.contains(node.span))


def _stepped(step: Event) -> Expr:
    """The optimizer that a step is of."""
    if step.kind is EventKind.SCALER_STEP:
        return step.call.args[0].value
    return step.call.func.value if isinstance(step.call.func, Attribute) else step.call.func


def _answer(test: Expr, *, is_true: bool) -> Iterator[tuple[str, bool]]:
    """A test as it is written, without what negates it, and its answer; nothing for one that is not simple."""
    while isinstance(test, Unary) and test.op == "not":
        test, is_true = test.operand, not is_true
    code = spelled(test)
    if isinstance(test, Compare) and len(test.ops) == 1:
        op = NEGATED.get(test.ops[0], test.ops[0])
        sides = spelled(test.left), spelled(test.comparators[0])
        code = f"{sides[0]} {op} {sides[1]}" if all(sides) else ""
        is_true = is_true is (op == test.ops[0])
    if code:
        yield code, is_true


def _first(events: tuple[Event, ...], seen: set[Call]) -> tuple[Event, ...]:
    """The events whose call was not seen yet, each call once."""
    return tuple({event.call: event for event in reversed(events) if event.call not in seen}.values())[::-1]


def _follows(later: Event, step: Event) -> bool:
    """Whether a backward pass can run after a step in the same turn: not in another branch of one `if`."""
    if later.facts is step.facts and not are_exclusive(step.facts, step.call, later.call):
        return len(later.via) == len(step.via) or later.entry is not step.entry
    return later.facts is not step.facts and later.entry is not step.entry


def _is_bookkeeping(facts: "Facts", statement: Stmt) -> bool:
    """Whether a statement only drives the scaler and the optimizer or reads numbers: nothing in it autocasts."""
    if isinstance(statement, FunctionDef | ClassDef | With | For | While | Try | Return):
        return False
    for node in walk(statement):
        if isinstance(node, Binary) and node.op == "@":
            return False
        if isinstance(node, Call):
            last = dotted(node.func) or (node.func.attr if isinstance(node.func, Attribute) else "")
            if last.rpartition(".")[2] not in _BOOKKEEPING and facts.names.canonical(node.func) not in _BUILTINS:
                return False
    return True


def _has_own_region(event: Event) -> bool:
    """Whether an event in a callee stands in a region of its own function, where it is reported."""
    return bool(event.via) and any(not region.is_plain for region in event.facts.regions.around(event.call))
