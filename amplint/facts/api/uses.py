"""Where a module names the AMP API of PyTorch, through which binding, and what it does with the name there.

Knows nothing of whether a use is right, old or wanted.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.index import Index
from amplint.facts.program.names import Names
from amplint.knowledge import torch_api
from amplint.knowledge.torch_api import Api
from amplint.model.data import Entity
from amplint.model.tree import (
    Alias,
    AnnAssign,
    Argument,
    Assign,
    Attribute,
    AugAssign,
    BoolOp,
    Call,
    ClassDef,
    Constant,
    Delete,
    Expr,
    FunctionDef,
    IfExp,
    ImportFrom,
    Name,
    Node,
    Parameter,
    WithItem,
)
from amplint.model.walks import dotted

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Role(StrEnum):
    """What is done with the name where it stands."""

    CALL = "called"
    DECORATOR = "a bare decorator"
    CONTEXT = "entered without being called"
    ANNOTATION = "an annotation"
    TYPE_TEST = "tested for"
    BASE = "a base class"
    ALIAS = "given another name"
    PARTIAL = "bound by partial"
    TARGET = "assigned to"
    OWNER = "asked for an attribute"
    VALUE = "passed on"


# What says no more than the name itself.
NAMING = frozenset({Role.ANNOTATION, Role.TYPE_TEST})


class Use(Entity):
    """One place that names an API.

    node is the whole name; root the Name that it starts with; bindings are what gives the root its meaning, all to the
    same effect (none for a star import); call is the call of the API where the role is CALL.
    """

    node: Expr
    root: Name
    api: Api
    role: Role
    bindings: tuple[Binding, ...]
    call: Call | None = None

    @property
    def is_dotted(self) -> bool:
        """Whether the API is reached by attributes of a module, rather than by a name of its own."""
        return isinstance(self.node, Attribute)


class ImportedApi(Entity):
    """One name of a `from … import` that is an API. binding is what it binds."""

    statement: ImportFrom
    alias: Alias
    api: Api
    binding: Binding


class Uses:
    """All of them in one module."""

    def __init__(self, facts: "Facts") -> None:
        self._index: Index = facts.index
        self._names: Names = facts.names
        self.imported: tuple[ImportedApi, ...] = ()
        self.all: tuple[Use, ...] = ()
        self.readers: dict[Binding, list[Name]] = {}
        self._dotted_names: dict[Api, list[Use]] = {}
        roots = self._roots()
        if roots or self._names.star_modules:
            self._collect(roots)

    def of(self, binding: Binding) -> tuple[Use, ...]:
        """The uses of an API through this binding."""
        return tuple(use for use in self.all if binding in use.bindings)

    def dotted_names(self, api: Api) -> Sequence[Use]:
        """The uses of an API through a module that say no more than its name."""
        return self._dotted_names.get(api, ())

    def has_unknown_readers(self, binding: Binding) -> bool:
        """Whether the bound name is also read in ways that are no use of an API."""
        known: set[Node] = {use.root for use in self.of(binding)} | {binding.node}
        return any(name not in known for name in self.readers.get(binding, ()))

    def _roots(self) -> set[str]:
        """Names that may lead to torch: bound by an import of it, or by assigning such a name."""
        roots: set[str] = set()
        assigned: list[tuple[str, str]] = []
        for alias in self._index.each(Alias):
            statement = self._index.parents[alias]
            module = statement.module if isinstance(statement, ImportFrom) else alias.name
            if module.partition(".")[0] == "torch":
                roots.add(alias.asname or alias.name.partition(".")[0])
        for assignment in self._index.each(Assign):
            for value in _choices(assignment.value):
                path = dotted(value)
                if path is not None:
                    assigned += [(t.id, path.partition(".")[0]) for t in assignment.targets if isinstance(t, Name)]
        for _ in range(3):  # a chain of plain assignments is short
            roots |= {name for name, root in assigned if root in roots}
        return roots

    def _collect(self, roots: set[str]) -> None:
        self.imported = tuple(self._imported())
        found: list[Use] = []
        for node in self._index.each(Name):
            if not (node.id in roots or self._names.star_modules):
                continue
            bindings = self._names.lookup(node.id, node)
            for binding in bindings:
                self.readers.setdefault(binding, []).append(node)
            use = self._use(node, bindings)
            if use is not None:
                found.append(use)
                if use.is_dotted and use.role in NAMING:
                    self._dotted_names.setdefault(use.api, []).append(use)
        self.all = tuple(found)

    def _imported(self) -> Iterator[ImportedApi]:
        for statement in self._index.each(ImportFrom):
            if not statement.level and statement.module.startswith("torch"):
                for alias in statement.names:
                    api = torch_api.api(f"{statement.module}.{alias.name}")
                    if api is None:
                        continue
                    bound = self._names.lookup(alias.asname or alias.name, statement)
                    binding = next((b for b in bound if b.node is alias), None)
                    if binding is not None:
                        yield ImportedApi(statement, alias, api, binding)

    def _use(self, root: Name, bindings: tuple[Binding, ...]) -> Use | None:
        node: Expr = root
        canonical = self._names.canonical(root)
        if canonical is None:
            return None
        api = torch_api.api(canonical)
        while api is None:
            parent = self._index.parents.get(node)
            if not isinstance(parent, Attribute) or not torch_api.leads_to_api(canonical):
                return None
            node, canonical = parent, f"{canonical}.{parent.attr}"
            api = torch_api.api(canonical)
        role, call = self._role(node)
        if role is Role.TARGET and node is root:
            return None  # the assignment that gives the name its meaning
        return Use(node, root, api, role, bindings, call)

    def _role(self, node: Expr) -> tuple[Role, Call | None]:
        parent = self._index.parents[node]
        match parent:
            case Call(func=func) if func is node:
                return Role.CALL, parent
            case Attribute():
                return Role.OWNER, None
            case FunctionDef(decorators=decorators) | ClassDef(decorators=decorators) if node in decorators:
                return Role.DECORATOR, None
            case Assign(value=value) if value is node:
                is_alias = all(isinstance(target, Name) for target in parent.targets)
                return (Role.ALIAS if is_alias else Role.VALUE), None
            case Assign() | AugAssign() | Delete():
                return Role.TARGET, None
            case Argument():
                return self._role_of_argument(parent), None
        return self._role_inside(node), None

    def _role_of_argument(self, argument: Argument) -> Role:
        call = self._index.parents[argument]
        if isinstance(call, ClassDef):
            return Role.BASE
        if isinstance(call, Call):
            function = self._names.canonical(call.func)
            if function in ("builtins.isinstance", "builtins.issubclass") and call.args[1:] == (argument,):
                return Role.TYPE_TEST
            if function == "functools.partial" and call.args[0] is argument:
                return Role.PARTIAL
        return Role.VALUE

    def _role_inside(self, node: Expr) -> Role:
        """The role of a name that stands within a larger expression."""
        child: Node = node
        for outer in self._index.ancestors(node):
            if isinstance(outer, WithItem) and outer.context is child:
                return Role.CONTEXT
            if isinstance(outer, Parameter | AnnAssign) and outer.annotation is child:
                return Role.ANNOTATION
            if isinstance(outer, FunctionDef):
                return Role.ANNOTATION if outer.returns is child else Role.VALUE
            if isinstance(outer, Call):
                is_test = self._names.canonical(outer.func) in ("builtins.isinstance", "builtins.issubclass")
                return Role.TYPE_TEST if is_test and outer.args[1:] == (child,) else Role.VALUE
            if isinstance(outer, IfExp) and outer.test is child:
                return Role.VALUE
            child = outer
        return Role.VALUE


def _choices(expr: Expr) -> Iterator[Expr]:
    """The expressions that a conditional expression chooses from."""
    if isinstance(expr, IfExp):
        yield from _choices(expr.body)
        yield from _choices(expr.orelse)
    elif isinstance(expr, BoolOp):
        for value in expr.values:
            yield from _choices(value)
    else:
        yield expr


def constant_text(expr: Expr) -> str | None:
    """The value of a string literal."""
    return expr.value if isinstance(expr, Constant) and isinstance(expr.value, str) else None
