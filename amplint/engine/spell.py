"""Says how a program spells a dotted name at a place: through bindings that are certainly there when it is reached.

Knows Python's scopes by the facts of one module; adds no import itself.
"""

import builtins

from amplint.facts.gather import Facts
from amplint.facts.program.bindings import Binding
from amplint.facts.program.index import Scope
from amplint.model.span import Span
from amplint.model.tree import ClassDef, Comprehension, FunctionDef, Lambda, Module, Name, Node, Try, With
from amplint.model.walks import blocks, is_none, walk
from amplint.rewrite.spelling import is_loaded

_BUILTINS = frozenset(dir(builtins)) | {"__class__", "__file__", "__path__"}


class FactsSpeller:
    """A Speller for one module."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def spell(self, dotted: str, at: Span) -> str | None:
        """The dotted name through the binding that comes closest to it, or None."""
        place = self.facts.index.innermost(at)
        best: tuple[int, str] | None = None
        for name, found in self._visible(place).items():
            base = _imported(found)
            if base is None or not _reaches(base, dotted) or not self._is_certain(name, found, place):
                continue
            if best is None or len(base) > best[0]:
                best = len(base), name + dotted[len(base) :]
        return best[1] if best is not None else None

    def is_free(self, name: str, at: Span) -> bool:
        """Whether nothing in the module binds or uses the name so far, as far as the place can see."""
        place = self.facts.index.innermost(at)
        if name in _BUILTINS or name in self._visible(place):
            return False
        module = self.facts.module
        if name in self.facts.names.bindings(module):
            return False
        return not self.facts.names.star_modules or not any(node.id == name for node in self.facts.index.each(Name))

    def is_bound(self, name: Name) -> bool:
        """Whether a name has a value when the program reaches it; what a star import may bring counts."""
        found = self.facts.names.lookup(name.id, name)
        if not found:
            return name.id in _BUILTINS or bool(self.facts.names.star_modules)
        return any(self._may_precede(binding, name) for binding in found)

    def _visible(self, place: Node) -> dict[str, tuple[Binding, ...]]:
        """The bindings of every name at a place, inner scopes first; class bodies are seen from themselves only."""
        index, names = self.facts.index, self.facts.names
        scope: Scope = index.scope(place)
        seen = dict(names.bindings(scope))
        while not isinstance(scope, Module):
            scope = index.scope(scope)
            if not isinstance(scope, ClassDef):
                for name, found in names.bindings(scope).items():
                    seen.setdefault(name, found)
        return seen

    def _is_certain(self, name: str, found: tuple[Binding, ...], place: Node) -> bool:
        """Whether one of the bindings certainly ran before the place, or its statement relies on the name already."""
        if any(self._certainly_precedes(binding, place) for binding in found):
            return True
        if isinstance(place, Module):
            return False
        statement = self.facts.index.statement(place)
        header = self.facts.index.statement_span(place.span)
        return any(
            isinstance(node, Name) and node.id == name and header.contains(node.span) and self.is_bound(node)
            for node in walk(statement)
        )

    def _certainly_precedes(self, binding: Binding, place: Node) -> bool:
        """Whether no branch leads around the binding to the place; a `try` is taken to succeed."""
        if not self._may_precede(binding, place):
            return False
        around = {place, *self.facts.index.ancestors(place)}
        child = binding.node
        for outer in self.facts.index.ancestors(binding.node):
            if outer is binding.scope:
                break
            block = next((block for block in blocks(outer) if child in block), None)
            is_shared = child in around or block is None or any(node in around for node in block)
            is_passed = isinstance(outer, With) or (isinstance(outer, Try) and block in (outer.body, outer.finalbody))
            if not is_shared and not is_passed:
                return False
            child = outer
        return True

    def _may_precede(self, binding: Binding, place: Node) -> bool:
        """Whether the place comes later in the text, or stands in a function that runs later than the binding."""
        if binding.node.span.start < place.span.start or isinstance(binding.scope, Comprehension):
            return True
        scope = self.facts.index.scope(place)
        while scope is not binding.scope and not isinstance(scope, Module):
            if isinstance(scope, FunctionDef | Lambda):
                return True
            scope = self.facts.index.scope(scope)
        return False


def _imported(found: tuple[Binding, ...]) -> str | None:
    """What a name is imported as, where nothing else but None (for a package that is missing) is bound to it."""
    targets = {binding.canonical for binding in found if binding.kind == "import"}
    others = [binding for binding in found if binding.kind != "import"]
    if len(targets) != 1 or not all(is_none(binding.value) for binding in others):
        return None
    return targets.pop()


def _reaches(base: str, dotted: str) -> bool:
    """Whether attributes lead from an imported module or name to the dotted name."""
    if dotted == base:
        return True
    module = dotted.rpartition(".")[0]
    return dotted.startswith(f"{base}.") and (module == base or is_loaded(module))
