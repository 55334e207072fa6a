"""The lowered program: a small picklable tree in the shape of Python's own `ast`; knows nothing of whitespace.

Nodes compare by identity and are never changed after they are built.
"""

from msgspec import Struct

from amplint.model.span import Span

ConstantValue = str | bytes | int | float | complex | bool | None


class Kept(Struct, eq=False, kw_only=True):
    """What `children` and `own_nodes` said; both are asked a hundred times for each node."""

    kept_children: "tuple[Node, ...] | None" = None
    kept_own: "tuple[Node, ...] | None" = None


class Node(Kept):
    """Anything with a place in the program.

    Spans are those of `ast`: without enclosing parentheses, but with those of a tuple or a generator expression.
    """

    span: Span

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in written(type(self)))})"


def written(kind: type[Node]) -> tuple[str, ...]:
    """The names of what the program says in the nodes of a class: what is kept beside it comes last."""
    return kind.__struct_fields__[: -len(Kept.__struct_fields__)]


# --- expressions


class Name(Node, eq=False):
    id: str


class Constant(Node, eq=False):
    """A literal; `...` is the value Ellipsis. Adjacent string literals are one constant."""

    value: object


class Attribute(Node, eq=False):
    value: "Expr"
    attr: str
    attr_span: Span


class Argument(Node, eq=False):
    """One argument in source order: star is '', '*' or '**'; name is set for a keyword argument."""

    value: "Expr"
    name: str | None
    star: str


class Call(Node, eq=False):
    func: "Expr"
    args: tuple[Argument, ...]


class Subscript(Node, eq=False):
    """value[index]; several indices make the index a Tuple."""

    value: "Expr"
    index: "Expr"


class Slice(Node, eq=False):
    lower: "Expr | None"
    upper: "Expr | None"
    step: "Expr | None"


class Starred(Node, eq=False):
    value: "Expr"


class Unary(Node, eq=False):
    """op is 'not', '-', '+' or '~'."""

    op: str
    operand: "Expr"


class Binary(Node, eq=False):
    """op as it is written: '+', '//', '@', and so on."""

    op: str
    left: "Expr"
    right: "Expr"


class BoolOp(Node, eq=False):
    """`a and b and c` is one node with three values; op is 'and' or 'or'."""

    op: str
    values: tuple["Expr", ...]


class Compare(Node, eq=False):
    """ops as they are written: '==', 'is not', 'not in', and so on."""

    left: "Expr"
    ops: tuple[str, ...]
    comparators: tuple["Expr", ...]


class IfExp(Node, eq=False):
    test: "Expr"
    body: "Expr"
    orelse: "Expr"


class Tuple(Node, eq=False):
    elts: tuple["Expr", ...]


class List(Node, eq=False):
    elts: tuple["Expr", ...]


class Set(Node, eq=False):
    elts: tuple["Expr", ...]


class Dict(Node, eq=False):
    """A key of None stands for `**value`."""

    keys: tuple["Expr | None", ...]
    values: tuple["Expr", ...]


class Parameter(Node, eq=False):
    """kind is 'positional-only', 'positional', 'keyword', '*' or '**'."""

    name: str
    kind: str
    annotation: "Expr | None"
    default: "Expr | None"


class Lambda(Node, eq=False):
    parameters: tuple[Parameter, ...]
    body: "Expr"


class Generator(Node, eq=False):
    """One `for target in iter if …` of a comprehension; spans from the target to the last condition."""

    target: "Expr"
    iter: "Expr"
    ifs: tuple["Expr", ...]
    is_async: bool


class Comprehension(Node, eq=False):
    """kind is 'list', 'set', 'dict' or 'generator'; value is set for 'dict' only."""

    kind: str
    element: "Expr"
    value: "Expr | None"
    generators: tuple[Generator, ...]


class Await(Node, eq=False):
    value: "Expr"


class Yield(Node, eq=False):
    value: "Expr | None"
    is_from: bool


class NamedExpr(Node, eq=False):
    target: Name
    value: "Expr"


class JoinedString(Node, eq=False):
    """An f-string or t-string: the expressions in it, in order."""

    values: tuple["Expr", ...]


Expr = (
    Name
    | Constant
    | Attribute
    | Call
    | Subscript
    | Slice
    | Starred
    | Unary
    | Binary
    | BoolOp
    | Compare
    | IfExp
    | Tuple
    | List
    | Set
    | Dict
    | Lambda
    | Comprehension
    | Await
    | Yield
    | NamedExpr
    | JoinedString
)

# --- statements


class ExprStmt(Node, eq=False):
    value: Expr


class Assign(Node, eq=False):
    targets: tuple[Expr, ...]
    value: Expr


class AnnAssign(Node, eq=False):
    target: Expr
    annotation: Expr
    value: Expr | None


class AugAssign(Node, eq=False):
    """op without its equals sign: '+', '/', and so on."""

    target: Expr
    op: str
    value: Expr


class Return(Node, eq=False):
    value: Expr | None


class Raise(Node, eq=False):
    exc: Expr | None
    cause: Expr | None


class Assert(Node, eq=False):
    test: Expr
    msg: Expr | None


class Delete(Node, eq=False):
    targets: tuple[Expr, ...]


class Pass(Node, eq=False):
    pass


class Break(Node, eq=False):
    pass


class Continue(Node, eq=False):
    pass


class Global(Node, eq=False):
    names: tuple[str, ...]


class Nonlocal(Node, eq=False):
    names: tuple[str, ...]


class Alias(Node, eq=False):
    """`name as asname`; name is dotted in an `import` statement and '*' in a star import."""

    name: str
    asname: str | None


class Import(Node, eq=False):
    names: tuple[Alias, ...]


class ImportFrom(Node, eq=False):
    """module is '' for `from . import x`; level counts the leading dots."""

    module: str
    level: int
    names: tuple[Alias, ...]


class If(Node, eq=False):
    """An `elif` is an If that stands alone in orelse and whose span starts at its `elif`."""

    test: Expr
    body: "Block"
    orelse: "Block"


class For(Node, eq=False):
    target: Expr
    iter: Expr
    body: "Block"
    orelse: "Block"
    is_async: bool


class While(Node, eq=False):
    test: Expr
    body: "Block"
    orelse: "Block"


class WithItem(Node, eq=False):
    context: Expr
    target: Expr | None


class With(Node, eq=False):
    items: tuple[WithItem, ...]
    body: "Block"
    is_async: bool


class ExceptHandler(Node, eq=False):
    """type is None for a bare `except:`."""

    type: Expr | None
    name: str | None
    body: "Block"


class Try(Node, eq=False):
    body: "Block"
    handlers: tuple[ExceptHandler, ...]
    orelse: "Block"
    finalbody: "Block"
    is_star: bool


class Pattern(Node, eq=False):
    """What matters of a match pattern: the names that it binds, the values that it compares, whether it always fits."""

    captures: tuple[str, ...]
    values: tuple[Expr, ...]
    is_irrefutable: bool


class MatchCase(Node, eq=False):
    pattern: Pattern
    guard: Expr | None
    body: "Block"


class Match(Node, eq=False):
    subject: Expr
    cases: tuple[MatchCase, ...]


class FunctionDef(Node, eq=False):
    """The span starts at `def` or `async`; decorators stand before it."""

    name: str
    name_span: Span
    parameters: tuple[Parameter, ...]
    body: "Block"
    decorators: tuple[Expr, ...]
    returns: Expr | None
    is_async: bool


class ClassDef(Node, eq=False):
    """Base classes and keywords are arguments in source order."""

    name: str
    name_span: Span
    bases: tuple[Argument, ...]
    body: "Block"
    decorators: tuple[Expr, ...]


class TypeAlias(Node, eq=False):
    name: Name
    value: Expr


Stmt = (
    ExprStmt
    | Assign
    | AnnAssign
    | AugAssign
    | Return
    | Raise
    | Assert
    | Delete
    | Pass
    | Break
    | Continue
    | Global
    | Nonlocal
    | Import
    | ImportFrom
    | If
    | For
    | While
    | With
    | Try
    | Match
    | FunctionDef
    | ClassDef
    | TypeAlias
)
Block = tuple[Stmt, ...]


class Comment(Node, eq=False):
    """A comment with its '#'; is_own_line says that nothing but white space stands before it."""

    text: str
    is_own_line: bool


class Module(Node, eq=False):
    """A whole program. Comments are in source order."""

    body: Block
    comments: tuple[Comment, ...]
