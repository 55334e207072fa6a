"""Training frameworks that bring their own mixed precision: Accelerate, Lightning, Fabric, as the program uses them.

Refuses to know how they were configured outside the program.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from amplint.knowledge import training_names as known
from amplint.model.tree import Attribute, Call, Constant, Node

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
