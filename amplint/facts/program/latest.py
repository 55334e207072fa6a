"""Which assignment a read of a name or a place may meet, as far as the order of the statements tells.

Knows blocks, `with` and loops of one scope; refuses to know which branches run.
"""

from collections.abc import Callable, Iterable, Iterator

from amplint.facts.program.bindings import Binding
from amplint.facts.program.index import Index, Scope
from amplint.model.span import Position
from amplint.model.tree import (
    AnnAssign,
    Assign,
    AugAssign,
    ClassDef,
    Comprehension,
    Expr,
    For,
    FunctionDef,
    List,
    Module,
    Name,
    Node,
    Starred,
    Stmt,
    Tuple,
    While,
    With,
)
from amplint.model.walks import walk

MANY = 64  # bindings of one name, above which nobody sorts out what a read may meet


def latest(index: Index, bindings: tuple[Binding, ...], use: Node) -> tuple[Binding, ...]:
    """The bindings that a read may meet: not those that a later assignment on every way there has replaced.

    Nor those behind the read that no loop leads back from. An assignment that names itself (`model = wrap(model)`)
    replaces nothing. All of them where the order tells nothing, as from within another function.
    """
    if not 1 < len(bindings) <= MANY:
        return bindings
    scope = _scope(index, use)
    if not isinstance(scope, Module | FunctionDef | ClassDef):
        return bindings
    if any(binding.scope is not scope or index.scope(binding.node) is not scope for binding in bindings):
        return bindings
    statements = (_assigning(index, binding.node) for binding in bindings)
    name = bindings[0].name
    last = last_given(index, statements, use, lambda node: isinstance(node, Name) and node.id == name)
    back = set(_loops(index, use)) - set(_loops(index, last) if last is not None else ())
    found = tuple(
        binding
        for binding in bindings
        if last is None or binding.node.span.start >= last.span.start
        if _end(index, binding.node) <= use.span.start or any(loop.span.contains(binding.node.span) for loop in back)
    )
    return found or bindings


def _scope(index: Index, node: Node) -> Scope:
    """The scope around a node that is no comprehension: those run where they stand, but for generators."""
    scope = index.scope(node)
    while isinstance(scope, Comprehension) and scope.kind != "generator":
        scope = index.scope(scope)
    return scope


def last_given(
    index: Index, nodes: Iterable[Node | None], use: Node, is_at: Callable[[Node], bool]
) -> Assign | AnnAssign | None:
    """The last assignment to a place, which is_at knows, that runs before a read whenever that does.

    So it stands in a block around the read, or in a `with` there. One that reads the place itself adds to it only.
    """
    found = [
        node
        for node in nodes
        if isinstance(node, Assign | AnnAssign) and node.span.end <= use.span.start and any(map(is_at, _targets(node)))
    ]
    around = {id(block) for block in _blocks(index, use)} if found else set()
    # From the last one backwards: what an assignment reads may be much, and is looked through for few of them.
    for statement in sorted(found, key=lambda each: each.span, reverse=True):
        value = statement.value
        if value is not None and _runs_in(index, statement, around) and not any(map(is_at, walk(value))):
            return statement
    return None


def _runs_in(index: Index, statement: Stmt, blocks: set[int]) -> bool:
    """Whether a statement runs wherever one of some blocks does."""
    while True:
        holder, block = index.block(statement)
        if id(block) in blocks:
            return True
        if not isinstance(holder, With):
            return False
        statement = holder


def _targets(statement: Assign | AnnAssign) -> Iterator[Expr]:
    """What an assignment gives a value, the parts of a tuple each by itself; what a star gathers is left out."""
    pending: list[Expr] = list(statement.targets if isinstance(statement, Assign) else (statement.target,))
    while pending:
        target = pending.pop()
        if isinstance(target, Tuple | List):
            pending.extend(target.elts)
        elif not isinstance(target, Starred):
            yield target


def _assigning(index: Index, target: Node) -> Node | None:
    """The statement that assigns a name, alone or among others."""
    statement = index.parents.get(target)
    while isinstance(statement, Tuple | List):
        statement = index.parents.get(statement)
    return statement if isinstance(statement, Assign | AnnAssign | AugAssign) else None


def _end(index: Index, target: Node) -> Position:
    """From where on a binding holds: what an assignment reads is read before it."""
    statement = _assigning(index, target)
    return statement.span.end if statement is not None else target.span.start


def _blocks(index: Index, use: Node) -> "Iterator[object]":
    """The blocks of its own scope in which a read stands, innermost first."""
    scope, statement = _scope(index, use), index.statement(use)
    while True:
        holder, block = index.block(statement)
        yield block
        if holder is scope or isinstance(holder, Module):
            return
        statement = index.statement(holder)


def _loops(index: Index, node: Node) -> Iterator[For | While]:
    """The loops of its scope that run a node again and again; a `while` runs its test so too."""
    child = node
    for outer in index.ancestors(node):
        if isinstance(outer, FunctionDef | ClassDef):
            return
        if isinstance(outer, For | While) and (
            child in outer.body or (isinstance(outer, While) and child is outer.test)
        ):
            yield outer
        child = outer
