"""What enables a scaler that is made somewhere: the argument, by its name or its place; knows no region."""

from amplint.facts.program.constructors import Construction
from amplint.facts.program.values import Origin
from amplint.knowledge.training_names import enabled_at
from amplint.model.tree import Constant


def switch_of(made: Construction) -> Origin | None:
    """The expression that enables a scaler, None where nothing does."""
    argument = made.argument("enabled", enabled_at(made.name))
    return Origin(made.home(argument), argument.value) if argument is not None else None


def is_disabled(made: Construction) -> bool:
    """Whether a scaler is switched off by a plain False: a flag may have another value tomorrow."""
    switch = switch_of(made)
    return switch is not None and isinstance(switch.node, Constant) and switch.node.value is False
