"""What names mean: imports, definitions and plain aliases, by Python's scoping; knows nothing of values."""

import builtins
from collections.abc import Callable

from msgspec import Struct, field

from amplint.facts.program.bindings import Binding, Meaning
from amplint.facts.program.index import Index, Scope
from amplint.flow.terms import sole_return
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Call,
    ClassDef,
    Comprehension,
    Constant,
    Delete,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    Generator,
    Global,
    IfExp,
    Import,
    ImportFrom,
    Lambda,
    List,
    Module,
    Name,
    NamedExpr,
    Node,
    Nonlocal,
    Pattern,
    Starred,
    Tuple,
    TypeAlias,
    WithItem,
)

_BINDERS = frozenset({
    Import, ImportFrom, FunctionDef, ClassDef, Lambda, Assign, AnnAssign, AugAssign, For, Generator, WithItem,
    NamedExpr, Delete, ExceptHandler, Pattern, TypeAlias,
})  # fmt: skip
_BUILTINS = frozenset(dir(builtins))
_LATE = frozenset({"importlib.import_module"})


class _Table(Struct):
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)


class Names:
    """The bindings of one module. dotted_name is the module's own absolute name.

    exports answers what a name means in a module that is imported with a star: a dotted name, '' where it is bound to
    something else, None where the module does not bind it. It raises LookupError for a module that is not seen.
    """

    def __init__(
        self,
        module: Module,
        index: Index,
        dotted_name: str,
        is_package: bool = False,
        exports: Callable[[str, str], str | None] | None = None,
    ) -> None:
        self._exports = exports
        self.index = index
        self.dotted_name = dotted_name
        self._module = module
        self._package = dotted_name if is_package else dotted_name.rpartition(".")[0]
        self._bindings: dict[Scope, dict[str, tuple[Binding, ...]]] = {}
        self._tables: dict[Scope, _Table] = {module: _Table()}
        self._meanings: dict[Node, Meaning] = {}
        self._canonical: dict[Node, str | None] = {}
        self.star_modules: list[str] = []
        for local in index.each(Nonlocal):
            self._table(index.scope(local)).outer.update(dict.fromkeys(local.names, "nonlocal"))
        for shared in index.each(Global):
            self._table(index.scope(shared)).outer.update(dict.fromkeys(shared.names, "global"))
        for node in index.nodes:
            if type(node) in _BINDERS:
                self._bind(node)

    def canonical(self, expr: Node) -> str | None:
        """The one dotted name that an expression stands for, or None where it is unknown or depends on a branch."""
        if expr not in self._canonical:
            meaning = self.meaning(expr)
            is_one = meaning.is_complete and len(meaning.names) == 1
            self._canonical[expr] = next(iter(meaning.names)) if is_one else None
        return self._canonical[expr]

    def meaning(self, expr: Node) -> Meaning:
        """All dotted names that an expression may stand for."""
        if expr not in self._meanings:
            self._meanings[expr] = self._meaning(expr, frozenset())
        return self._meanings[expr]

    def may_mean(self, expr: Node, is_wanted: Callable[[str], bool]) -> bool:
        """Whether one of the dotted names that an expression may stand for is wanted; follows no value."""
        return any(map(is_wanted, self.meaning(expr).names))

    def lookup(self, name: str, at: Node) -> tuple[Binding, ...]:
        """The bindings that a name has at a node: those of the innermost scope that binds it; () where none does."""
        scope = self.index.scope(at)
        is_innermost = True
        while True:
            table = self._tables.get(scope)
            if table is not None and (is_innermost or not isinstance(scope, ClassDef)):
                if table.outer.get(name) == "global":
                    return tuple(self._tables[self._module].bindings.get(name, ()))
                if name in table.bindings:
                    return tuple(table.bindings[name])
            if isinstance(scope, Module):
                return ()
            is_innermost = False
            scope = self.index.scope(scope)

    def bindings(self, scope: Scope) -> dict[str, tuple[Binding, ...]]:
        """All bindings that a scope makes itself, by name."""
        if scope not in self._bindings:
            table = self._tables.get(scope)
            made = table.bindings.items() if table is not None else ()
            self._bindings[scope] = {name: tuple(found) for name, found in made}
        return self._bindings[scope]

    def module_binding(self, name: str) -> str | None:
        """The dotted name that a module-level name stands for, for those who import it from here."""
        found = self._tables[self._module].bindings.get(name)
        if found is None:
            return f"{self.star_modules[0]}.{name}" if len(self.star_modules) == 1 else None
        meaning = self._joined(found, frozenset())
        return next(iter(meaning.names)) if meaning.is_complete and len(meaning.names) == 1 else None

    def absolute(self, module: str, level: int) -> str:
        """The absolute dotted name of the module of a `from` import."""
        if not level:
            return module
        parts = self._package.split(".") if self._package else []
        base = parts[: len(parts) - (level - 1)]
        return ".".join([*base, module] if module else base)

    def _meaning(self, expr: Node, seen: frozenset[Binding]) -> Meaning:
        if isinstance(expr, Attribute):
            inner = self._meaning(expr.value, seen)
            return Meaning(frozenset(f"{name}.{expr.attr}" for name in inner.names), inner.is_complete)
        if isinstance(expr, IfExp):
            body, orelse = self._meaning(expr.body, seen), self._meaning(expr.orelse, seen)
            return Meaning(body.names | orelse.names, body.is_complete and orelse.is_complete)
        if isinstance(expr, Call):
            return self._given_by(expr, seen)
        if not isinstance(expr, Name):
            return Meaning()
        found = self.lookup(expr.id, expr)
        if found:
            return self._joined(list(found), seen)
        if self.star_modules and expr.id == "torch":
            # `from nerf.utils import *` brings the packages that nerf.utils imports; no other thing is called torch.
            return Meaning(frozenset({"torch"}), True)
        if self.star_modules and expr.id not in _BUILTINS:
            return self._starred(expr.id)
        return Meaning(frozenset({f"builtins.{expr.id}"}), True) if expr.id in _BUILTINS else Meaning()

    def _given_by(self, call: Call, seen: frozenset[Binding]) -> Meaning:
        """What a call gives that imports something late: `import_module("torch")`, a function of no arguments here."""
        first = call.args[0].value if len(call.args) == 1 else None
        if isinstance(first, Constant):
            is_module = isinstance(first.value, str) and self._meaning(call.func, seen).names == _LATE
            return Meaning(frozenset({str(first.value)}), True) if is_module else Meaning()
        found = self.lookup(call.func.id, call.func) if isinstance(call.func, Name) and not call.args else ()
        function = found[0].node if len(found) == 1 and found[0] not in seen else None
        if not isinstance(function, FunctionDef) or function.parameters or function.is_async or function.decorators:
            return Meaning()
        returned = sole_return(function)
        return self._meaning(returned, seen | {found[0]}) if isinstance(returned, Name) else Meaning()

    def _starred(self, name: str) -> Meaning:
        """What a name means that no binding but a star import can give; the last module that gives it wins."""
        unseen: list[str] = []
        for module in reversed(self.star_modules):
            try:
                target = self._exports(module, name) if self._exports is not None else None
                is_seen = self._exports is not None
            except LookupError:
                target, is_seen = None, False
            if target is not None:
                return Meaning(frozenset({target}) if target else frozenset(), bool(target) and not unseen)
            if not is_seen:
                unseen.append(f"{module}.{name}")
        return Meaning(frozenset(unseen), len(unseen) == 1)

    def _joined(self, found: list[Binding], seen: frozenset[Binding]) -> Meaning:
        names: frozenset[str] = frozenset()
        is_complete = True
        for binding in found:
            if binding.canonical is not None:
                names |= {binding.canonical}
            elif binding.value is not None and binding not in seen:
                meaning = self._meaning(binding.value, seen | {binding})
                names |= meaning.names
                is_complete = is_complete and meaning.is_complete
            else:
                is_complete = False
        return Meaning(names, is_complete)

    def _table(self, scope: Scope) -> _Table:
        return self._tables.setdefault(scope, _Table())

    def _add(self, binding: Binding) -> None:
        scope = binding.scope
        where = self._table(scope).outer.get(binding.name)
        if where == "global":
            scope = self._module
        elif where == "nonlocal":
            scope = self.index.scope(scope)
        self._table(scope).bindings.setdefault(binding.name, []).append(binding)

    def _bind(self, node: Node) -> None:
        scope = self.index.scope(node)
        match node:
            case Import():
                self._bind_import(node, scope)
            case ImportFrom():
                self._bind_from(node, scope)
            case FunctionDef() | ClassDef():
                qualified = f"{self.dotted_name}.{self.index.qualified_names[node]}"
                self._add(Binding(node.name, "definition", node, scope, None, qualified))
                if isinstance(node, FunctionDef):
                    self._bind_parameters(node)
            case Lambda():
                self._bind_parameters(node)
            case Assign(targets=targets, value=value):
                for target in targets:
                    self._bind_target(target, scope, value)
            case AnnAssign(target=target, value=value) if value is not None:
                self._bind_target(target, scope, value)
            case AugAssign(target=target) | For(target=target) | Generator(target=target):
                self._bind_target(target, scope, None)
            case WithItem(target=target) if target is not None:
                self._bind_target(target, scope, None)
            case NamedExpr(target=target, value=value):
                while isinstance(scope, Comprehension):
                    scope = self.index.scope(scope)
                self._bind_target(target, scope, value)
            case Delete(targets=targets):
                for target in targets:
                    self._bind_target(target, scope, None)
            case ExceptHandler(name=str(caught)):
                self._add(Binding(caught, "other", node, scope))
            case Pattern(captures=captures):
                for capture in captures:
                    self._add(Binding(capture, "other", node, scope))
            case TypeAlias(name=alias_name):
                self._add(Binding(alias_name.id, "other", node, scope))
            case _:
                pass

    def _bind_import(self, node: Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            target = alias.name if alias.asname else top
            self._add(Binding(alias.asname or top, "import", alias, scope, None, target))

    def _bind_from(self, node: ImportFrom, scope: Scope) -> None:
        module = self.absolute(node.module, node.level)
        for alias in node.names:
            if alias.name == "*":
                self.star_modules.append(module)
            else:
                target = f"{module}.{alias.name}" if module else alias.name
                self._add(Binding(alias.asname or alias.name, "import", alias, scope, None, target))

    def _bind_parameters(self, function: FunctionDef | Lambda) -> None:
        for parameter in function.parameters:
            self._add(Binding(parameter.name, "parameter", parameter, function))

    def _bind_target(self, target: Node, scope: Scope, value: Expr | None) -> None:
        match target:
            case Name(id=name):
                kind = "assignment" if value is not None else "other"
                self._add(Binding(name, kind, target, scope, value))
            case Tuple(elts=elts) | List(elts=elts):
                values: tuple[Expr | None, ...] = (None,) * len(elts)
                is_parallel = isinstance(value, Tuple | List) and len(value.elts) == len(elts)
                if is_parallel and not any(isinstance(e, Starred) for e in (*elts, *value.elts)):  # type: ignore[union-attr]
                    values = value.elts  # type: ignore[union-attr]
                for part, part_value in zip(elts, values, strict=True):
                    self._bind_target(part, scope, part_value)
            case Starred(value=inner):
                self._bind_target(inner, scope, None)
            case _:
                pass
