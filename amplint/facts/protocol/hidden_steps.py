"""Whether a call may step by what its name holds and nobody follows: a method without its object, a partial, a lambda.

Goes by the names of methods; what can be followed was followed before.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.protocol.roles import SCALER_METHODS
from amplint.model.tree import Attribute, Call, Expr, Name
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

STEPPING = SCALER_METHODS | {"zero_grad", "backward"}


def hides_step(home: "Facts", func: Expr) -> bool:
    """Whether something that a callee was assigned names a method of a step, called or not."""
    return any(_names_step(value) for value in _values(home, func))


def _values(home: "Facts", func: Expr) -> Iterator[Expr]:
    match func:
        case Name():
            found = home.names.lookup(func.id, func)
            yield from (binding.value for binding in found if binding.value is not None)
            unpacked = (home.values.unpacked(binding.node).value for binding in found if binding.kind == "assignment")
            yield from (value for value in unpacked if value is not None)
        case Attribute(value=Name(id="self"), attr=attribute) if (klass := home.index.klass(func)) is not None:
            yield from (value for value in home.attributes(klass).get(attribute, ()) if value is not None)
        case _:
            pass


def _names_step(value: Expr) -> bool:
    called = {id(node.func) for node in walk(value) if isinstance(node, Call)} if isinstance(value, Call) else set()
    return any(isinstance(node, Attribute) and node.attr in STEPPING and id(node) not in called for node in walk(value))
