"""Groups of micro-batches that Accelerate keeps: losses that it divides itself, and what runs on every micro-batch.

Goes by `accelerator.accumulate` and `gradient_accumulation_steps`; a plugin or a launcher's file stays unknown.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.accumulation.loss_returns import is_divided_by
from amplint.facts.accumulation.loss_trace import LossTrace
from amplint.facts.program.reach import Reached, reached
from amplint.facts.training.frameworks import may_scale
from amplint.knowledge import training_names as known
from amplint.model.data import Value
from amplint.model.tree import Attribute, Call, Constant, Expr, Node, With, WithItem
from amplint.model.walks import dotted, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

UNSCALING = frozenset({"clip_grad_norm_", "clip_grad_value_", "unscale_gradients"})


class DividedTwice(Value):
    """A division of a loss that the Accelerator's backward divides by the same length."""

    division: Node
    backward: Call
    length: Expr


class AccelerateGroups:
    """The groups of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def divided_twice(self) -> Iterator[DividedTwice]:
        """Losses that the program divides before an Accelerator that was told the length of a group."""
        backwards = self._facts.frameworks.accelerated_backwards
        seen: set[Node] = set()
        for reading in self._facts.protocol if backwards else ():
            for step, call in reading.scene.calls:
                if call not in backwards or call in seen or not call.args:
                    continue
                seen.add(call)
                lengths = [length for made in self._made(call) if (length := _length(made)) is not None]
                trace = LossTrace(reading=reading, loss=call.args[0].value, frame=step.frame)
                for division in trace.divisions:
                    is_here = self._facts.index.parents.get(division.node) is not None
                    if is_here and any(_is_same(division.divisor, length) for length in lengths):
                        yield DividedTwice(division.node, call, division.divisor)
                        break

    @cached_property
    def on_every_turn(self) -> tuple[tuple[Call, Call], ...]:
        """Clips, by torch or by the Accelerator, that do not wait for the end of a group, with the Accelerator."""
        found: dict[Call, Call] = {}
        for block, made in self._groups():
            for each in reached(self._facts, block.body):
                if isinstance(each.node, Call) and self._clips(each) and not self._asks_for_the_end(block, each):
                    found.setdefault(each.node, made)
        return tuple(found.items())

    def unscaled_on_every_turn(self) -> Iterator[tuple[Call, Call]]:
        """Those of them that make an Accelerator unscale, which it may do once a group."""
        for call, made in self.on_every_turn:
            if self._unscales(call) and may_scale(made) and not self._is_left_alone(call, made):
                yield call, made

    def _is_left_alone(self, clip: Call, made: Call) -> bool:
        """Whether an Accelerator was given no optimizer whose gradients it could unscale.

        That is, where it prepares something in the function of a clip, and nothing that steps there.
        """
        index, training = self._facts.index, self._facts.training
        calls = [call for call in index.calls if index.function(call) is index.function(clip)]
        prepared = [call for call in calls if _method(call) == "prepare" and made in self._made(call)]
        given = [argument for call in prepared for argument in call.args]
        stepped = {
            training.handle(call.func.value)
            for call in calls
            if isinstance(call.func, Attribute) and call.func.attr == "step"
        }
        handles = {training.handle(argument.value) for argument in given}
        optimizers = {handle for handle in stepped if handle in training.optimizers}
        return bool(given and optimizers) and not any(a.star for a in given) and handles.isdisjoint(optimizers | {None})

    def _made(self, call: Call) -> list[Call]:
        assert isinstance(call.func, Attribute)
        return [made.call for made in self._facts.training.made_by(call.func.value, known.is_accelerator)]

    def _groups(self) -> Iterator[tuple[With, Call]]:
        """The blocks that are micro-batches of an Accelerator whose groups have more than one."""
        parents = self._facts.index.parents
        for call in self._facts.index.calls:
            item = parents.get(call)
            block = parents.get(item) if isinstance(item, WithItem) else None
            is_accumulate = isinstance(call.func, Attribute) and call.func.attr == "accumulate"
            if is_accumulate and isinstance(block, With):
                yield from ((block, made) for made in self._made(call)[:1] if _length(made) is not None)

    def _clips(self, each: Reached) -> bool:
        if each.facts is not self._facts or not isinstance(each.node, Call):
            return False
        return self._facts.names.canonical(each.node.func) in known.CLIPS or self._unscales(each.node)

    def _unscales(self, call: Call) -> bool:
        func = call.func
        is_named = isinstance(func, Attribute) and func.attr in UNSCALING
        return is_named and isinstance(func, Attribute) and self._facts.frameworks.is_accelerator(func.value)

    def _asks_for_the_end(self, block: With, each: Reached) -> bool:
        """Whether any function on the way asks whether gradients are complete."""
        index = self._facts.index
        places = [place for place in (block, each.node, *each.via) if place in index.parents]
        around = {index.function(place) or self._facts.module for place in places}
        return any(
            isinstance(node, Attribute) and node.attr == "sync_gradients"
            for function in around
            for node in own_nodes(function)
        )


def _method(call: Call) -> str:
    return call.func.attr if isinstance(call.func, Attribute) else ""


def _length(accelerator: Call) -> Expr | None:
    """How many turns a group has, where an Accelerator was told so, and it is not one."""
    given = next((a.value for a in accelerator.args if a.name == "gradient_accumulation_steps"), None)
    return None if isinstance(given, Constant) and given.value == 1 else given


def _is_same(divisor: Expr, length: Expr) -> bool:
    """Whether a divisor is a group's length, by the last part of its name: `self.steps` was passed on as `steps`."""
    if is_divided_by(divisor, length):
        return True
    inner = divisor.args[0].value if isinstance(divisor, Call) and divisor.args else divisor
    names = [dotted(expr) for expr in (inner, length)]
    return None not in names and len({str(name).rpartition(".")[2] for name in names}) == 1
