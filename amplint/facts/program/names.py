"""What names mean: imports, definitions and plain aliases; knows nothing of values."""

import builtins
from collections.abc import Callable, Iterable

from amplint.facts.program.bindings import UNKNOWN, Binding, Meaning, Search
from amplint.facts.program.index import Index
from amplint.facts.program.scopes import Scopes
from amplint.flow.terms import sole_return
from amplint.model.tree import Attribute, Call, Constant, Expr, FunctionDef, IfExp, Module, Name, Node

_BUILTINS = frozenset(dir(builtins))
_LATE = frozenset({"importlib.import_module"})


class Names(Scopes):
    """The meanings of one module's names.

    exports answers what a name means in a module that is imported with a star: a dotted name, '' where it is bound to
    something else, None where the module does not bind it. It raises LookupError for a module that is not seen.
    """

    def __init__(
        self,
        module: Module,
        index: Index,
        dotted_name: str,
        is_package: bool = False,
        exports: Callable[[str, str, Search], str | None] | None = None,
    ) -> None:
        super().__init__(module, index, dotted_name, is_package)
        self._exports = exports
        self._meanings: dict[Node, Meaning] = {}

    def canonical(self, expr: Node) -> str | None:
        """The one dotted name that an expression stands for, or None where it is unknown or depends on a branch."""
        return _sole(self._meanings.get(expr) or self.meaning(expr))

    def meaning(self, expr: Node) -> Meaning:
        """All dotted names that an expression may stand for."""
        if expr not in self._meanings:
            self._meanings[expr] = self._meaning(expr, {})
        return self._meanings[expr]

    def may_mean(self, expr: Node, is_wanted: Callable[[str], bool]) -> bool:
        """Whether one of the dotted names that an expression may stand for is wanted; follows no value."""
        return any(map(is_wanted, self.meaning(expr).names))

    def module_binding(self, name: str, search: Search | None = None) -> str | None:
        """The dotted name that a module-level name stands for, for those who import it from here."""
        found = self.bindings(self.module).get(name)
        if found is None:
            return f"{self.star_modules[0]}.{name}" if len(self.star_modules) == 1 else None
        return _sole(self._joined(found, {} if search is None else search))

    def _meaning(self, expr: Node, search: Search) -> Meaning:
        if type(expr) is Attribute:
            inner = self._meaning(expr.value, search)
            if not inner.names:
                return inner
            return Meaning(frozenset([f"{name}.{expr.attr}" for name in inner.names]), inner.is_complete)
        if type(expr) is IfExp:
            body, orelse = self._meaning(expr.body, search), self._meaning(expr.orelse, search)
            return Meaning(body.names | orelse.names, body.is_complete and orelse.is_complete)
        if type(expr) is Call:
            return self._given_by(expr, search)
        if type(expr) is not Name:
            return UNKNOWN
        found = self.lookup(expr.id, expr)
        if found:
            return self._joined(found, search)
        if self.star_modules and expr.id == "torch":
            # `from nerf.utils import *` brings the packages that nerf.utils imports; no other thing is called torch.
            return Meaning(frozenset({"torch"}), True)
        if self.star_modules and expr.id not in _BUILTINS:
            return self._starred(expr.id, search)
        return Meaning(frozenset({f"builtins.{expr.id}"}), True) if expr.id in _BUILTINS else UNKNOWN

    def _given_by(self, call: Call, search: Search) -> Meaning:
        """What a call gives that imports something late: `import_module("torch")`, a function of no arguments here."""
        first = call.args[0].value if len(call.args) == 1 else None
        if isinstance(first, Constant):
            is_module = isinstance(first.value, str) and self._meaning(call.func, search).names == _LATE
            return Meaning(frozenset({str(first.value)}), True) if is_module else UNKNOWN
        found = self.lookup(call.func.id, call.func) if isinstance(call.func, Name) and not call.args else ()
        function = found[0].node if len(found) == 1 else None
        if not isinstance(function, FunctionDef) or function.parameters or function.is_async or function.decorators:
            return UNKNOWN
        returned = sole_return(function)
        return self._followed(found[0], returned, search) if isinstance(returned, Name) else UNKNOWN

    def _starred(self, name: str, search: Search) -> Meaning:
        """What a name means that no binding but a star import can give; the last module that gives it wins."""
        unseen: list[str] = []
        for module in reversed(self.star_modules):
            try:
                target = self._exports(module, name, search) if self._exports is not None else None
                is_seen = self._exports is not None
            except LookupError:
                target, is_seen = None, False
            if target is not None:
                return Meaning(frozenset({target}) if target else frozenset(), bool(target) and not unseen)
            if not is_seen:
                unseen.append(f"{module}.{name}")
        return Meaning(frozenset(unseen), len(unseen) == 1)

    def _joined(self, found: Iterable[Binding], search: Search) -> Meaning:
        names: frozenset[str] = frozenset()
        is_complete = True
        for binding in found:
            if binding.canonical is not None:
                names |= {binding.canonical}
            elif binding.value is not None:
                meaning = self._followed(binding, binding.value, search)
                names |= meaning.names
                is_complete = is_complete and meaning.is_complete
            else:
                is_complete = False
        return Meaning(names, is_complete) if names or is_complete else UNKNOWN

    def _followed(self, binding: Binding, value: Expr, search: Search) -> Meaning:
        """What a value means by which a name gets its own: once in a search, and nothing where it leads to itself."""
        if binding not in search:
            search[binding] = None
            search[binding] = self._meaning(value, search)
        return search[binding] or UNKNOWN


def _sole(meaning: Meaning) -> str | None:
    """The one name of a meaning."""
    return next(iter(meaning.names)) if meaning.is_complete and len(meaning.names) == 1 else None
