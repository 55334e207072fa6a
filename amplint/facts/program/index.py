"""Where each node of a module stands: parents, statements, functions, loops, definitions; knows nothing of meaning."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

from amplint.model.span import Span
from amplint.model.tree import (
    AnnAssign,
    Assign,
    AugAssign,
    Block,
    Call,
    ClassDef,
    Comprehension,
    Constant,
    Delete,
    ExceptHandler,
    For,
    FunctionDef,
    Generator,
    If,
    Lambda,
    List,
    Match,
    MatchCase,
    Module,
    Name,
    NamedExpr,
    Node,
    Stmt,
    Try,
    Tuple,
    While,
    With,
    WithItem,
    Yield,
)
from amplint.model.walks import blocks, children, own_nodes

N = TypeVar("N", bound=Node)
Scope = Module | FunctionDef | ClassDef | Lambda | Comprehension
_STATEMENTS: tuple[type[Node], ...] = Stmt.__args__
_STATEMENT_KINDS = frozenset(_STATEMENTS)
_DEFINITIONS = frozenset({FunctionDef, ClassDef})
_FUNCTIONS_AND_CLASSES = frozenset({FunctionDef, ClassDef, Lambda})
_SCOPES = frozenset({FunctionDef, ClassDef, Lambda, Comprehension})
# Half of all nodes, with nothing below them.
_LEAVES = frozenset({Name, Constant})
_BLOCK_HOLDERS = (If, For, While, With, Try, ExceptHandler, MatchCase, FunctionDef, ClassDef)

# Statements of a block, above which it pays to look for one where it must be.
_LONG = 16


class Index:
    """The shape of one module, indexed once.

    definitions maps the name of a function or class, qualified by the definitions around it (`Trainer.step`,
    `main.closure`), to the last definition of that name.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.parents: dict[Node, Node] = {}
        self.definitions: dict[str, FunctionDef | ClassDef] = {}
        self.qualified_names: dict[FunctionDef | ClassDef, str] = {}
        # Those of names and constants are left out, half of all, unless they stand right below a scope.
        self._scopes: dict[Node, Scope] = {module: module}
        self._generators: dict[FunctionDef | Lambda, bool] = {}
        self._blocks: dict[Node, tuple[Node, Block]] = {}
        self._in_order: dict[Node, tuple[list[Node], list[tuple[int, int]]]] = {}
        scopes, parents = self._scopes, self.parents
        nodes: list[Node] = []
        by_kind: defaultdict[type[Node], list[Node]] = defaultdict(list)
        stack: list[Node] = [module]
        while stack:  # once for every node of a tree, so nothing is asked twice and no class is built here
            node = stack.pop()
            nodes.append(node)
            kind = type(node)
            by_kind[kind].append(node)
            if kind in _LEAVES:
                node.kept_children = ()
                continue
            below = children(node)
            scope = scopes[node]
            if kind in _SCOPES:
                if kind in _DEFINITIONS:
                    self._define(node, scope)  # type: ignore[arg-type]  # mypy does not narrow by a set of classes
                for child in below:
                    parents[child] = node
                    scopes[child] = node if _is_evaluated_inside(child, node) else scope  # type: ignore[assignment]
            else:
                for child in below:
                    parents[child] = node
                    if type(child) not in _LEAVES:
                        scopes[child] = scope
            stack += below[::-1]
        self.nodes = tuple(nodes)
        self._by_kind = dict(by_kind)

    def _define(self, node: FunctionDef | ClassDef, scope: Scope) -> None:
        around = self.qualified_names.get(scope) if isinstance(scope, FunctionDef | ClassDef) else None
        qualified = node.name if around is None else f"{around}.{node.name}"
        self.definitions[qualified] = node
        self.qualified_names[node] = qualified

    def each(self, kind: type[N]) -> Sequence[N]:
        """Every node of one class, in source order of where it starts (an outer one before those in it)."""
        return self._by_kind.get(kind, ())  # type: ignore[return-value]  # a list for each class holds its nodes

    @property
    def calls(self) -> Sequence[Call]:
        """Every call."""
        return self.each(Call)

    @property
    def functions(self) -> Sequence[FunctionDef]:
        """Every function and method, nested ones too."""
        return self.each(FunctionDef)

    def is_generator(self, function: FunctionDef | Lambda) -> bool:
        """Whether a call of a function of this module runs nothing yet."""
        if function not in self._generators:
            self._generators[function] = any(type(node) is Yield for node in own_nodes(function))
        return self._generators[function]

    def ancestors(self, node: Node) -> Iterator[Node]:
        """The nodes around a node, from the innermost outwards, the module last."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def statement(self, node: Node) -> Stmt:
        """The innermost statement that holds a node, or the node itself. Raises LookupError for a module."""
        current: Node | None = node
        while current is not None and type(current) not in _STATEMENT_KINDS:
            current = self.parents.get(current)
        if current is None:
            raise LookupError("a module is in no statement")
        return current  # type: ignore[return-value]  # mypy does not narrow by a tuple of classes

    def function(self, node: Node) -> FunctionDef | Lambda | None:
        """The innermost function whose body holds the node; None at module and class level."""
        scope = self.scope(node)
        while type(scope) is Comprehension:
            scope = self.scope(scope)
        return scope if type(scope) is FunctionDef or type(scope) is Lambda else None

    def klass(self, node: Node) -> ClassDef | None:
        """The innermost class around a node."""
        return next((outer for outer in self.ancestors(node) if type(outer) is ClassDef), None)

    def scope(self, node: Node) -> Scope:
        """The scope in which a node is evaluated: decorators, defaults and bases belong to the scope outside."""
        scope = self._scopes.get(node)
        return self._scopes[self.parents[node]] if scope is None else scope

    def loops(self, node: Node) -> tuple[For | While, ...]:
        """The loops of the node's own function whose body holds it, innermost first."""
        found: list[For | While] = []
        child = node
        for outer in self.ancestors(node):
            if type(outer) in _FUNCTIONS_AND_CLASSES:
                break
            if (type(outer) is For or type(outer) is While) and child in outer.body:
                found.append(outer)
            child = outer
        return tuple(found)

    def block(self, statement: Stmt) -> tuple[Node, Block]:
        """The node that holds a statement and the one of its blocks in which the statement stands."""
        if statement not in self._blocks:
            holder = self.parents[statement]
            for block in blocks(holder):
                self._blocks.update((each, (holder, block)) for each in block)
        if statement not in self._blocks:
            raise LookupError("a statement outside every block")
        return self._blocks[statement]

    def is_target(self, node: Node) -> bool:
        """Whether something is bound to a name or an attribute where it stands, in a pair or alone, or deleted."""
        match self.parents.get(node):
            case Assign() as around:
                return node in around.targets
            case AugAssign() | AnnAssign() | For() | Generator() | NamedExpr() | WithItem() as around:
                return around.target is node
            case Tuple() | List() as around:
                return self.is_target(around)
            case around:
                return isinstance(around, Delete)

    def innermost(self, span: Span) -> Node:
        """The smallest node that covers a span."""
        node: Node = self.module
        while True:
            inner = next((child for child in self._near(node, span) if child.span.contains(span)), None)
            if inner is None:
                return node
            node = inner

    def _near(self, node: Node, span: Span) -> Iterator[Node]:
        """The nodes below a node; where they are many, those between which a span begins."""
        if len(children(node)) <= _LONG:
            return _with_decorators(node)
        if node not in self._in_order:
            nodes = sorted(_with_decorators(node), key=lambda below: below.span)
            self._in_order[node] = nodes, [below.span.start for below in nodes]
        nodes, starts = self._in_order[node]
        at = bisect_right(starts, span.start)
        return iter(nodes[max(at - 2, 0) : at])

    def statement_span(self, span: Span) -> Span:
        """The lines on which a comment may speak for a span: its statement, without the blocks that it introduces.

        A decorator has lines of its own.
        """
        node = self.innermost(span)
        if isinstance(node, Module):
            return span
        statement = self.statement(node)
        decorators = statement.decorators if isinstance(statement, FunctionDef | ClassDef) else ()
        return next((d.span for d in decorators if d.span.contains(span)), header_span(statement))


def _with_decorators(node: Node) -> Iterator[Node]:
    """The nodes below a node, with the decorators of definitions, which stand before the definition's own span."""
    for child in children(node):
        if isinstance(child, FunctionDef | ClassDef):
            yield from child.decorators
        yield child


def _is_evaluated_inside(child: Node, parent: Node) -> bool:
    if type(parent) in _DEFINITIONS:
        return type(child) in _STATEMENT_KINDS
    return type(parent) is not Lambda or child is parent.body


def header_span(statement: Stmt) -> Span:
    """A statement without its blocks: for a compound one, from its keyword to the last expression of its header."""
    if not isinstance(statement, (*_BLOCK_HOLDERS, Match)):
        return statement.span
    ends = [statement.span.start]
    if isinstance(statement, FunctionDef | ClassDef):
        ends.append(statement.name_span.end)
    for child in children(statement):
        is_decorator = isinstance(statement, FunctionDef | ClassDef) and child in statement.decorators
        if not isinstance(child, (*_STATEMENTS, ExceptHandler, MatchCase)) and not is_decorator:
            ends.append(child.span.end)
    return Span(*statement.span.start, *max(ends))
