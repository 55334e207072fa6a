"""The lowered program: a small picklable tree in the shape of Python's own `ast`; knows nothing of whitespace.

Nodes compare by identity and are never changed after they are built. They are not Structs as other data, because
`isinstance` asks millions of times which a node is, and takes twice as long where a class has a class of its own. They
are not frozen, because that doubles the cost of building the hundreds of thousands that a large tree needs.
"""

from amplint.model.node import fields, kept, node
from amplint.model.span import Span

ConstantValue = str | bytes | int | float | complex | bool | None


@node
class Node:
    """Anything with a place in the program.

    Spans are those of `ast`: without enclosing parentheses, but with those of a tuple or a generator expression.
    """

    span: Span
    # What `children` and `own_nodes` said; both are asked a hundred times for each node.
    kept_children: "tuple[Node, ...] | None" = kept()
    kept_own: "tuple[Node, ...] | None" = kept()

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in fields(type(self)))
        return f"{type(self).__name__}({', '.join(shown)})"


# --- expressions


@node
class Name(Node):
    id: str


@node
class Constant(Node):
    """A literal; `...` is the value Ellipsis. Adjacent string literals are one constant."""

    value: object


@node
class Attribute(Node):
    value: "Expr"
    attr: str

    @property
    def attr_span(self) -> Span:
        """Where the attribute's own name stands, at the end of the whole."""
        _, _, line, column = self.span
        return Span(line, column - len(self.attr), line, column)


@node
class Argument(Node):
    """One argument in source order: star is '', '*' or '**'; name is set for a keyword argument."""

    value: "Expr"
    name: str | None
    star: str


@node
class Call(Node):
    func: "Expr"
    args: tuple[Argument, ...]


@node
class Subscript(Node):
    """value[index]; several indices make the index a Tuple."""

    value: "Expr"
    index: "Expr"


@node
class Slice(Node):
    lower: "Expr | None"
    upper: "Expr | None"
    step: "Expr | None"


@node
class Starred(Node):
    value: "Expr"


@node
class Unary(Node):
    """op is 'not', '-', '+' or '~'."""

    op: str
    operand: "Expr"


@node
class Binary(Node):
    """op as it is written: '+', '//', '@', and so on."""

    op: str
    left: "Expr"
    right: "Expr"


@node
class BoolOp(Node):
    """`a and b and c` is one node with three values; op is 'and' or 'or'."""

    op: str
    values: tuple["Expr", ...]


@node
class Compare(Node):
    """ops as they are written: '==', 'is not', 'not in', and so on."""

    left: "Expr"
    ops: tuple[str, ...]
    comparators: tuple["Expr", ...]


@node
class IfExp(Node):
    test: "Expr"
    body: "Expr"
    orelse: "Expr"


@node
class Tuple(Node):
    elts: tuple["Expr", ...]


@node
class List(Node):
    elts: tuple["Expr", ...]


@node
class Set(Node):
    elts: tuple["Expr", ...]


@node
class Dict(Node):
    """A key of None stands for `**value`."""

    keys: tuple["Expr | None", ...]
    values: tuple["Expr", ...]


@node
class Parameter(Node):
    """kind is 'positional-only', 'positional', 'keyword', '*' or '**'."""

    name: str
    kind: str
    annotation: "Expr | None"
    default: "Expr | None"


@node
class Lambda(Node):
    parameters: tuple[Parameter, ...]
    body: "Expr"
    # What `own_calls` said.
    kept_calls: "tuple[Call, ...] | None" = kept()


@node
class Generator(Node):
    """One `for target in iter if …` of a comprehension; spans from the target to the last condition."""

    target: "Expr"
    iter: "Expr"
    ifs: tuple["Expr", ...]
    is_async: bool


@node
class Comprehension(Node):
    """kind is 'list', 'set', 'dict' or 'generator'; value is set for 'dict' only."""

    kind: str
    element: "Expr"
    value: "Expr | None"
    generators: tuple[Generator, ...]


@node
class Await(Node):
    value: "Expr"


@node
class Yield(Node):
    value: "Expr | None"
    is_from: bool


@node
class NamedExpr(Node):
    target: Name
    value: "Expr"


@node
class JoinedString(Node):
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


@node
class ExprStmt(Node):
    value: Expr


@node
class Assign(Node):
    targets: tuple[Expr, ...]
    value: Expr


@node
class AnnAssign(Node):
    target: Expr
    annotation: Expr
    value: Expr | None


@node
class AugAssign(Node):
    """op without its equals sign: '+', '/', and so on."""

    target: Expr
    op: str
    value: Expr


@node
class Return(Node):
    value: Expr | None


@node
class Raise(Node):
    exc: Expr | None
    cause: Expr | None


@node
class Assert(Node):
    test: Expr
    msg: Expr | None


@node
class Delete(Node):
    targets: tuple[Expr, ...]


@node
class Pass(Node):
    pass


@node
class Break(Node):
    pass


@node
class Continue(Node):
    pass


@node
class Global(Node):
    names: tuple[str, ...]


@node
class Nonlocal(Node):
    names: tuple[str, ...]


@node
class Alias(Node):
    """`name as asname`; name is dotted in an `import` statement and '*' in a star import."""

    name: str
    asname: str | None


@node
class Import(Node):
    names: tuple[Alias, ...]


@node
class ImportFrom(Node):
    """module is '' for `from . import x`; level counts the leading dots."""

    module: str
    level: int
    names: tuple[Alias, ...]


@node
class If(Node):
    """An `elif` is an If that stands alone in orelse and whose span starts at its `elif`."""

    test: Expr
    body: "Block"
    orelse: "Block"


@node
class For(Node):
    target: Expr
    iter: Expr
    body: "Block"
    orelse: "Block"
    is_async: bool


@node
class While(Node):
    test: Expr
    body: "Block"
    orelse: "Block"


@node
class WithItem(Node):
    context: Expr
    target: Expr | None


@node
class With(Node):
    items: tuple[WithItem, ...]
    body: "Block"
    is_async: bool


@node
class ExceptHandler(Node):
    """type is None for a bare `except:`."""

    type: Expr | None
    name: str | None
    body: "Block"


@node
class Try(Node):
    body: "Block"
    handlers: tuple[ExceptHandler, ...]
    orelse: "Block"
    finalbody: "Block"
    is_star: bool


@node
class Pattern(Node):
    """What matters of a match pattern: the names that it binds, the values that it compares, whether it always fits."""

    captures: tuple[str, ...]
    values: tuple[Expr, ...]
    is_irrefutable: bool


@node
class MatchCase(Node):
    pattern: Pattern
    guard: Expr | None
    body: "Block"


@node
class Match(Node):
    subject: Expr
    cases: tuple[MatchCase, ...]


@node
class FunctionDef(Node):
    """The span starts at `def` or `async`; decorators stand before it."""

    name: str
    name_span: Span
    parameters: tuple[Parameter, ...]
    body: "Block"
    decorators: tuple[Expr, ...]
    returns: Expr | None
    is_async: bool
    # What `own_returns` and `own_calls` said.
    kept_returns: "tuple[Return, ...] | None" = kept()
    kept_calls: "tuple[Call, ...] | None" = kept()


@node
class ClassDef(Node):
    """Base classes and keywords are arguments in source order."""

    name: str
    name_span: Span
    bases: tuple[Argument, ...]
    body: "Block"
    decorators: tuple[Expr, ...]


@node
class TypeAlias(Node):
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


@node
class Comment(Node):
    """A comment with its '#'; is_own_line says that nothing but white space stands before it."""

    text: str
    is_own_line: bool


@node
class Module(Node):
    """A whole program. Comments are in source order."""

    body: Block
    comments: tuple[Comment, ...]
    kept_calls: "tuple[Call, ...] | None" = kept()
