"""What a call makes when its callee is a class, a partial of a class, or a choice between several.

Refuses to know what the object is then used for.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.tree import Argument, Call, Lambda, Name, Node
from amplint.model.walks import is_of_self

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.values import Origin


class Construction(Value):
    """One thing that a call may make: its canonical name and all arguments, those of a partial first.

    partial_facts is the module in which the arguments of the partial are written, None where there is no partial.
    """

    name: str
    facts: "Facts"
    call: Call
    arguments: tuple[Argument, ...]
    partial_facts: "Facts | None" = None

    def home(self, argument: Argument) -> "Facts":
        """The module in which an argument is written."""
        is_of_call = any(each is argument for each in self.call.args)
        return self.facts if is_of_call or self.partial_facts is None else self.partial_facts

    def argument(self, name: str, position: int | None) -> "Argument | None":
        """The argument of a keyword, or of a position counted from 0; None where it is absent or cannot be told."""
        count = 0
        found: Argument | None = None
        for each in self.arguments:
            if each.name == name:
                found = each
            elif each.star == "*":
                return found
            elif each.name is None and not each.star:
                if count == position and found is None:
                    found = each
                count += 1
        return found

    @property
    def has_star(self) -> bool:
        """Whether some arguments are hidden behind `*` or `**`."""
        return any(each.star for each in self.arguments)


class Constructors:
    """The constructions of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._made: dict[Call, tuple[Construction, ...]] = {}

    def names(self, call: Call) -> tuple[str, ...]:
        """The canonical names of what a call may make."""
        return tuple(each.name for each in self.of(call))

    def of(self, call: Call) -> tuple[Construction, ...]:
        """Everything that a call may make; () where its callee is not known."""
        if call not in self._made:
            self._made[call] = tuple(self._of(call, {call}))
        return self._made[call]

    def may_make(self, value: Node | None, is_wanted: Callable[[str], bool]) -> bool:
        """Whether a value is a call, and something that it may make has a wanted name."""
        if not isinstance(value, Call):
            return False
        return self._facts.names.may_mean(value.func, is_wanted) or any(is_wanted(made.name) for made in self.of(value))

    def always(self, call: Call, is_wanted: Callable[[str], bool]) -> bool:
        """Whether every alternative of the callee is known and makes something wanted."""
        if self._facts.names.canonical(call.func) is not None:
            return all(is_wanted(made.name) for made in self.of(call))
        alternatives = [self._meant(call, origin, {call}) for origin in self._callees(call)]
        return all(made and all(is_wanted(each.name) for each in made) for made in alternatives)

    def _of(self, call: Call, followed: set[Call]) -> list[Construction]:
        """What a call may make, less what calls make that were followed before."""
        canonical = self._facts.names.canonical(call.func)
        if canonical is not None:
            return [Construction(canonical, self._facts, call, call.args)]
        return [made for origin in self._callees(call) for made in self._meant(call, origin, followed)]

    def _callees(self, call: Call) -> "tuple[Origin, ...]":
        is_followed = isinstance(call.func, Name) or is_of_self(call.func)
        return self._facts.values.origins(call.func) if is_followed else ()

    def _meant(self, call: Call, origin: "Origin", followed: set[Call]) -> list[Construction]:
        """What a call makes where its callee is one of its alternatives."""
        node = origin.node
        if isinstance(node, Lambda):
            if not isinstance(node.body, Call) or node.body in followed:
                return []
            followed.add(node.body)
            return origin.facts.constructors._of(node.body, followed)
        if isinstance(node, Call):
            return self._of_partial(call, node, origin.facts)
        name = origin.facts.names.canonical(node) if node is not None else None
        return [Construction(name, self._facts, call, call.args)] if name is not None else []

    def _of_partial(self, call: Call, partial: Call, facts: "Facts") -> list[Construction]:
        if facts.names.canonical(partial.func) != "functools.partial" or not partial.args:
            return []
        return [
            Construction(name, self._facts, call, (*partial.args[1:], *call.args), facts)
            for name in _meanings(partial.args[0].value, facts)
        ]


def _meanings(expr: Node, facts: "Facts") -> list[str]:
    canonical = facts.names.canonical(expr)
    if canonical is not None:
        return [canonical]
    names = [o.facts.names.canonical(o.node) for o in facts.values.origins(expr) if o.node is not None]
    return [name for name in names if name is not None]
