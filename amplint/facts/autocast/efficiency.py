"""What makes a mixed-precision training loop slower than it could be: waiting for the device, odd sizes, small batches.

Refuses to measure; it only points at what is written in the loop.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from amplint.facts.autocast.host_values import FETCHES, HostValues
from amplint.facts.autocast.operations import number
from amplint.facts.training.events import Event, EventKind
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    Binary,
    Call,
    ClassDef,
    Constant,
    Expr,
    For,
    FunctionDef,
    If,
    Name,
    Node,
    While,
)
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_SYNCS = FETCHES | {"get_scale"}
_STEPS = (EventKind.SCALER_STEP, EventKind.OPTIMIZER_STEP)
_NORMS = frozenset({"torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d"})
_SIZED = {"torch.nn.Linear": (0, 1), "torch.nn.Conv1d": (0, 1), "torch.nn.Conv2d": (0, 1), "torch.nn.Embedding": (0, 1)}
_SMALLEST_SIZE = 64


class TrainingLoop(Value):
    """A loop whose every turn may step an optimizer."""

    loop: For | While
    step: Event


class Accumulation(Value):
    """A step behind a test of a remainder, in a module that makes batch norms."""

    norm: Call
    test: Expr


class Efficiency:
    """The training loops and layers of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    @cached_property
    def loops(self) -> tuple[TrainingLoop, ...]:
        """The innermost loops that step an optimizer, in modules that use autocast or a scaler."""
        if not self._facts.regions.all and not self._facts.training.scalers:
            return ()
        found: list[TrainingLoop] = []
        for node in self._facts.index.nodes:
            if isinstance(node, For | While):
                steps = [event for event in self._facts.training.within(node.body) if event.kind in _STEPS]
                if steps and not any(event.is_looped for event in steps):
                    found.append(TrainingLoop(node, steps[0]))
        return tuple(found)

    def host_syncs(self) -> Iterator[Call]:
        """Reads of device values in every turn of a training loop, the first of each statement."""
        seen: set[Node] = set()
        for training in self.loops:
            host = HostValues(training.loop)
            for node in (n for s in training.loop.body for n in walk(s)):
                if not isinstance(node, Call) or not self._waits(node) or not self._is_every_turn(node, training.loop):
                    continue
                if isinstance(node.func, Attribute) and host.holds(node.func.value, node):
                    continue
                statement = self._facts.index.statement(node)
                if statement not in seen:
                    seen.add(statement)
                    yield node

    def pageable_copies(self) -> Iterator[tuple[Call, Call]]:
        """Copies with non_blocking=True of what a loader without pinned memory gives, with that loader."""
        for training in self.loops:
            loader = self._loader(training.loop)
            if loader is None or any(a.name == "pin_memory" or a.star for a in loader.args):
                continue
            for node in (n for s in training.loop.body for n in walk(s)):
                if isinstance(node, Call) and any(a.name == "non_blocking" and _is_true(a.value) for a in node.args):
                    yield node, loader
                    break

    def accumulated_norms(self) -> Iterator[Accumulation]:
        """Batch norms in modules that step only every so many micro-batches."""
        norms = [call for call in self._facts.index.calls if self._facts.names.canonical(call.func) in _NORMS]
        if not norms:
            return
        for training in self.loops:
            for outer in self._facts.index.ancestors(training.step.entry):
                if outer is training.loop:
                    break
                if isinstance(outer, If) and any(isinstance(n, Binary) and n.op == "%" for n in walk(outer.test)):
                    yield Accumulation(norms[0], outer.test)
                    return

    def odd_sizes(self) -> Iterator[tuple[Call, Expr]]:
        """Literal sizes of layers, from 64 upwards, that are no multiple of 8."""
        if not self._facts.regions.all or PurePath(self._facts.path).name.startswith(("test_", "conftest")):
            return
        for call in self._facts.index.calls:
            if self._is_in_test(call):
                continue
            for place in _SIZED.get(self._facts.names.canonical(call.func) or "", ()):
                argument = call.args[place] if len(call.args) > place else None
                size = number(self._facts, argument.value) if argument is not None and not argument.star else None
                if argument is not None and size is not None and size >= _SMALLEST_SIZE and size % 8:
                    yield call, argument.value
                    break

    def _is_in_test(self, node: Node) -> bool:
        """Whether a function or class around a node is called a test: what it makes is small, and odd on purpose."""
        around = (outer for outer in self._facts.index.ancestors(node) if isinstance(outer, FunctionDef | ClassDef))
        return any(outer.name.lower().startswith("test") for outer in around)

    def _waits(self, call: Call) -> bool:
        if isinstance(call.func, Attribute) and call.func.attr in _SYNCS and not call.args:
            return call.func.attr != "get_scale" or self._facts.training.is_scaler(call.func.value)
        return False

    def _is_every_turn(self, node: Node, loop: For | While) -> bool:
        for outer in self._facts.index.ancestors(node):
            if outer is loop:
                return True
            if isinstance(outer, If | For | While):
                return False
        return False

    def _loader(self, loop: For | While) -> Call | None:
        iterable = loop.iter if isinstance(loop, For) else None
        while isinstance(iterable, Call) and iterable.args and isinstance(iterable.func, Name | Attribute):
            if self._is_loader(iterable):
                return iterable
            iterable = iterable.args[0].value  # enumerate(…), tqdm(…)
        for origin in self._facts.values.origins(iterable) if iterable is not None else ():
            if isinstance(origin.node, Call) and origin.facts is self._facts:
                return origin.node if self._is_loader(origin.node) else None
        return None

    def _is_loader(self, call: Call) -> bool:
        return self._facts.names.canonical(call.func) == "torch.utils.data.DataLoader"


def _is_true(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.value is True
