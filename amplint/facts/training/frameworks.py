"""Training frameworks that bring their own mixed precision: Accelerate, Lightning, Fabric, as the program uses them.

Refuses to know how they were configured outside the program.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.classes import lookup_order
from amplint.facts.program.reach import reached
from amplint.knowledge import training_names as known
from amplint.model.tree import Attribute, Call, ClassDef, Constant, Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Frameworks:
    """The frameworks that one module uses."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    @cached_property
    def accelerators(self) -> tuple[Call, ...]:
        """The calls that make an Accelerator."""
        return tuple(
            call
            for call in self._facts.index.calls
            if any(known.is_accelerator(name) for name in self._facts.constructors.names(call))
        )

    def torch_clips(self) -> Iterator[tuple[Call, Call]]:
        """Torch's own clipping of gradients that an Accelerator may scale, with the Accelerator."""
        if not self._scaled_backwards or self._unscales:
            return
        seen: set[Node] = set()
        for function in self._facts.index.functions:
            own = [each for each in reached(self._facts, function.body, kind=Call) if each.facts is self._facts]
            backwards = [each for each in own if each.node in self._scaled_backwards]
            for each in own if backwards else ():
                if not isinstance(each.node, Call) or each.node in seen:
                    continue
                if self._facts.names.canonical(each.node.func) not in known.CLIPS or self._runs_its_own(each.node):
                    continue
                entry = each.via[0] if each.via else each.node
                for back in backwards:
                    if each.via and back.via and each.via[0] is back.via[0]:
                        continue  # both in one call: judged in the function that it runs
                    if not are_exclusive(self._facts, entry, back.via[0] if back.via else back.node):
                        seen.add(each.node)
                        yield each.node, self._scaled_backwards[back.node]
                        break

    def _runs_its_own(self, clip: Call) -> bool:
        """Whether the function around a clip runs a backward that no Accelerator knows of."""
        function = self._facts.index.function(clip)
        return any(
            isinstance(call.func, Attribute) and call.func.attr == "backward" and call not in self.accelerated_backwards
            for call in self._facts.index.calls
            if self._facts.index.function(call) is function
        )

    def second_scalers(self) -> Iterator[tuple[Call, Node]]:
        """Scalers driven by hand where a framework drives its own, with what shows the framework."""
        index = self._facts.index
        for call in index.calls:
            func = call.func
            is_scale = isinstance(func, Attribute) and func.attr == "scale" and call.args
            if not is_scale or not isinstance(func, Attribute) or not self._facts.training.is_scaler(func.value):
                continue
            function = index.function(call)
            for backward in self.accelerated_backwards:
                if index.function(backward) is function and not are_exclusive(self._facts, call, backward):
                    yield call, backward
                    break
            klass = index.klass(call)
            if klass is not None and self._is_automatic(klass):
                yield call, klass

    @cached_property
    def accelerated_backwards(self) -> tuple[Call, ...]:
        """The backward passes that run through an Accelerator."""
        return tuple(
            call
            for call in self._facts.index.calls
            if isinstance(call.func, Attribute)
            and call.func.attr == "backward"
            and self.is_accelerator(call.func.value)
        )

    @cached_property
    def _scaled_backwards(self) -> dict[Node, Call]:
        """Backward passes of Accelerators that may scale, with where the Accelerator is made."""
        found: dict[Node, Call] = {}
        for call in self.accelerated_backwards:
            if isinstance(call.func, Attribute):
                made = self._facts.training.made_by(call.func.value, known.is_accelerator)
                scaling = next((each.call for each in made if may_scale(each.call) and each.facts is self._facts), None)
                if scaling is not None:
                    found[call] = scaling
        return found

    @cached_property
    def _unscales(self) -> bool:
        return any(
            isinstance(call.func, Attribute) and call.func.attr == "unscale_gradients"
            for call in self._facts.index.calls
        )

    def _is_automatic(self, klass: ClassDef) -> bool:
        """Whether a class is a LightningModule whose optimization Lightning runs."""
        lineage = list(lookup_order(self._facts, klass))
        bases = [facts.names.canonical(base.value) for facts, owner in lineage for base in owner.bases]
        if not any(base in known.LIGHTNING_MODULES for base in bases):
            return False
        given = self._facts.values.attribute(klass, "automatic_optimization")
        return not given

    def is_scheduler_apart(self, accelerator: Call) -> bool:
        """Whether an Accelerator was told not to step schedulers together with their optimizers."""
        return any(
            argument.name == "step_scheduler_with_optimizer"
            and isinstance(argument.value, Constant)
            and argument.value.value is False
            for argument in accelerator.args
        )

    def is_accelerator(self, expr: Node) -> bool:
        """Whether an expression is an Accelerator."""
        return bool(self._facts.training.made_by(expr, known.is_accelerator))

    def is_fabric(self, expr: Node) -> bool:
        """Whether an expression is a Lightning Fabric."""
        return bool(self._facts.training.made_by(expr, known.is_fabric))

    def is_autocast(self, call: Call) -> bool:
        """Whether a call makes the autocast context of a framework: `accelerator.autocast()`."""
        func = call.func
        if isinstance(func, Attribute) and func.attr == "autocast":
            return self.is_accelerator(func.value) or self.is_fabric(func.value)
        if self._facts.names.canonical(func) is not None:
            return False
        return any(
            isinstance(origin.node, Attribute)
            and origin.node.attr == "autocast"
            and (
                origin.facts.frameworks.is_accelerator(origin.node.value)
                or origin.facts.frameworks.is_fabric(origin.node.value)
            )
            for origin in self._facts.values.origins(func)
        )


def may_scale(accelerator: Call) -> bool:
    """Whether an Accelerator is given a precision that may be float16."""
    given = next((a.value for a in accelerator.args if a.name == "mixed_precision"), None)
    return given is not None and not (isinstance(given, Constant) and given.value != "fp16")
