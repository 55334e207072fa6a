"""Learning-rate schedulers: what is one, and which of their steps belong to one optimizer step.

Refuses to know how long an epoch is.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.branches import are_exclusive, sides
from amplint.facts.program.constants import is_false_for_good
from amplint.facts.training.events import Event, EventKind
from amplint.knowledge import training_names as known
from amplint.knowledge.training_api import CLIP_NAMES
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    Call,
    Continue,
    ExprStmt,
    For,
    FunctionDef,
    If,
    Name,
    Node,
    Raise,
    Return,
    Stmt,
    While,
)
from amplint.model.walks import last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_NAMED_SCHEDULER = re.compile(r"sched", re.IGNORECASE)
_SKIP_TESTS = frozenset({"get_scale", "_scale", "optimizer_step_was_skipped", "found_inf", "_found_inf_per_device"})
_FINITE_TESTS = frozenset({"isfinite", "isnan", "isinf"})


class BlindStep(Value):
    """A scheduler step that is taken whether or not the optimizer step beside it was skipped."""

    call: Call
    step: Event


class Schedulers:
    """The schedulers of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def is_scheduler(self, expr: Node) -> bool:
        """Whether an expression is a learning-rate scheduler: made as one, asked for its rate, or called one."""
        training = self._facts.training
        handle = training.handle(expr)
        if handle is not None and {"get_last_lr", "get_lr"} & training.uses[handle].keys():
            return True
        if training.made_by(expr, known.is_scheduler):
            return True
        return bool(_NAMED_SCHEDULER.search(last_name(expr)))

    def blind_steps(self) -> Iterator[BlindStep]:
        """Scheduler steps once per optimizer step that no test of a skipped step guards."""
        for call in self._facts.index.calls:
            if not (isinstance(call.func, Attribute) and call.func.attr == "step" and not call.args):
                continue
            if self._facts.training.kind(call) is not EventKind.SCHEDULER_STEP:
                continue
            if self._is_plateau(call.func.value) or self._is_guarded(call):
                continue
            step = self._step_beside(call)
            if step is not None:
                yield BlindStep(call, step)

    def _is_plateau(self, expr: Node) -> bool:
        made = self._facts.training.made_by(expr, known.is_scheduler)
        return bool(made) and all(each.name.endswith("ReduceLROnPlateau") for each in made)

    def _step_beside(self, call: Call) -> Event | None:
        """The skippable optimizer step that happens once per scheduler step."""
        index = self._facts.index
        loops = [loop for loop in index.loops(call) if not _goes_through(loop, call)]
        owner = loops[0] if loops else index.function(call)
        if not isinstance(owner, For | While | FunctionDef):
            return None
        for event in self._facts.training.within(owner.body):
            if event.kind is not EventKind.SCALER_STEP and not self._is_accelerated(event):
                continue
            if (event.is_looped and not is_over_optimizers(event, owner)) or self._is_switched_off(event):
                continue
            if not are_exclusive(self._facts, call, event.entry):
                return event
        return None

    def _is_switched_off(self, event: Event) -> bool:
        """Whether the scaler of a step is off for good, so that it skips nothing, or the step is."""
        around = sides(event.facts, event.call)
        if any(side.is_true and is_false_for_good(event.facts, side.choice.test) for side in around):
            return True
        func, training = event.call.func, event.facts.training
        made = training.made_by(func.value, known.is_scaler) if isinstance(func, Attribute) else []
        return bool(made) and all(map(training.is_switched_off, made))

    def _is_accelerated(self, event: Event) -> bool:
        """Whether an Accelerator steps the optimizer, but was told not to step the scheduler with it."""
        return event.kind is EventKind.OPTIMIZER_STEP and any(
            self._facts.frameworks.is_scheduler_apart(made) for made in self._facts.frameworks.accelerators
        )

    def _is_guarded(self, call: Call) -> bool:
        around = (side.choice for side in sides(self._facts, call))
        return any(self._mentions_skip(choice.test) for choice in (*around, *self._early_exits(call)))

    def _early_exits(self, call: Call) -> Iterator[If]:
        index = self._facts.index
        statement: Stmt | None = index.statement(call)
        while statement is not None:
            _, block = index.block(statement)
            for before in block[: block.index(statement)]:
                if isinstance(before, If) and isinstance(before.body[-1], Continue | Return | Raise):
                    yield before
            holder = index.parents[statement]
            statement = holder if isinstance(holder, If | For | While) and not isinstance(holder, For | While) else None

    def _mentions_skip(self, test: Node) -> bool:
        """Whether a test asks what became of the scale, or whether the norm of the gradients is finite."""
        nodes = [node for _, node in self._facts.values.closure(test)]
        called = {last_name(node.func) for node in nodes if isinstance(node, Call)}
        asks_for_the_norm = not called.isdisjoint(_FINITE_TESTS) and not called.isdisjoint(CLIP_NAMES)
        return asks_for_the_norm or any(isinstance(node, Attribute) and node.attr in _SKIP_TESTS for node in nodes)


def is_over_optimizers(event: Event, owner: Node | None = None) -> bool:
    """Whether the only loop around a step, within an owner, goes over the optimizers that it steps."""
    if event.via or not event.call.args:
        return False
    argument = event.call.args[0].value
    loops = event.facts.index.loops(event.call)
    is_only = owner is None or not loops[1:] or loops[1] is owner
    return (
        is_only
        and bool(loops)
        and isinstance(loops[0], For)
        and _names(loops[0].target) & _names(argument) != frozenset()
    )


def _goes_through(loop: For | While, call: Call) -> bool:
    """Whether a loop does nothing but to go through the schedulers that it steps: it belongs to no batch of its own."""
    receiver = call.func.value if isinstance(call.func, Attribute) else call.func
    is_target = isinstance(loop, For) and bool(_names(loop.target) & _names(receiver))
    return is_target and len(loop.body) == 1 and isinstance(loop.body[0], ExprStmt) and loop.body[0].value is call


def _names(node: Node) -> frozenset[str]:
    return frozenset(each.id for each in walk(node) if isinstance(each, Name))
