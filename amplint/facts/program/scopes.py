"""What each scope of a module binds, by Python's scoping; refuses to know what the names mean."""

from msgspec import Struct, field

from amplint.facts.program.bindings import Binding
from amplint.facts.program.index import Index, Scope
from amplint.model.tree import (
    AnnAssign,
    Assign,
    AugAssign,
    ClassDef,
    Comprehension,
    Delete,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    Generator,
    Global,
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


class _Table(Struct):
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)


class Scopes:
    """The bindings of one module.

    dotted_name is the module's own absolute name; star_modules are those that it imports with a star.
    """

    def __init__(self, module: Module, index: Index, dotted_name: str, is_package: bool = False) -> None:
        self.module = module
        self.index = index
        self.dotted_name = dotted_name
        self._package = dotted_name if is_package else dotted_name.rpartition(".")[0]
        self._bindings: dict[Scope, dict[str, tuple[Binding, ...]]] = {}
        self._tables: dict[Scope, _Table] = {module: _Table()}
        self.star_modules: list[str] = []
        for local in index.each(Nonlocal):
            self._table(index.scope(local)).outer.update(dict.fromkeys(local.names, "nonlocal"))
        for shared in index.each(Global):
            self._table(index.scope(shared)).outer.update(dict.fromkeys(shared.names, "global"))
        for node in index.nodes:
            if type(node) in _BINDERS:
                self._bind(node)

    def lookup(self, name: str, at: Node) -> tuple[Binding, ...]:
        """The bindings that a name has at a node: those of the innermost scope that binds it; () where none does."""
        scope = self.index.scope(at)
        is_innermost = True
        while True:
            table = self._tables.get(scope)
            if table is not None and (is_innermost or type(scope) is not ClassDef):
                if table.outer.get(name) == "global":
                    return tuple(self._tables[self.module].bindings.get(name, ()))
                if name in table.bindings:
                    return tuple(table.bindings[name])
            if type(scope) is Module:
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

    def absolute(self, module: str, level: int) -> str:
        """The absolute dotted name of the module of a `from` import."""
        if not level:
            return module
        parts = self._package.split(".") if self._package else []
        base = parts[: len(parts) - (level - 1)]
        return ".".join([*base, module] if module else base)

    def _table(self, scope: Scope) -> _Table:
        return self._tables.setdefault(scope, _Table())

    def _add(self, binding: Binding) -> None:
        scope = binding.scope
        where = self._table(scope).outer.get(binding.name)
        if where == "global":
            scope = self.module
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
