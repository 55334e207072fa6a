"""What a name holds that is assigned several times, where each of its reads meets one of the assignments alone.

Two names for one thing can be taken for each other then. A name of which one read may meet two is left alone.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.bindings import Binding
from amplint.facts.program.index import Scope
from amplint.facts.program.latest import latest
from amplint.model.tree import Name
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class SoleBindings(Struct):
    """Such names of one module."""

    facts: "Facts"
    _names: dict[Scope, dict[str, list[Name]]] = field(default_factory=dict)
    _met: dict[tuple[Scope, str], dict[Name, Binding]] = field(default_factory=dict)

    def of(self, read: Name) -> Binding | None:
        """The one binding that a read of such a name meets."""
        bindings = self.facts.names.lookup(read.id, read)
        if len(bindings) < 2 or any(binding.kind != "assignment" or binding.value is None for binding in bindings):
            return None
        key = bindings[0].scope, read.id
        if key not in self._met:
            self._met[key] = self._by_read(bindings)
        return self._met[key].get(read)

    def _by_read(self, bindings: tuple[Binding, ...]) -> dict[Name, Binding]:
        targets = {binding.node for binding in bindings}
        found: dict[Name, Binding] = {}
        for read in self._mentions(bindings[0].scope).get(bindings[0].name, ()):
            if read not in targets:
                met = latest(self.facts.index, bindings, read)
                if len(met) > 1:
                    return {}
                found[read] = met[0]
        return found

    def _mentions(self, scope: Scope) -> dict[str, list[Name]]:
        """Where a scope and those within it mention names."""
        if scope not in self._names:
            names = self._names[scope] = {}
            for node in walk(scope):
                if isinstance(node, Name):
                    names.setdefault(node.id, []).append(node)
        return self._names[scope]
