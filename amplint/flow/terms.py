"""Expressions as plain nested tuples that compare by meaning of their text: the same names of the same activation.

Knows which name belongs to which activation of which function; evaluates nothing.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping

from amplint.flow.answering import Answering
from amplint.flow.graph import Graph, Owner, receiver
from amplint.model.tree import (
    Alias,
    Attribute,
    Binary,
    BoolOp,
    Call,
    ClassDef,
    Compare,
    Constant,
    Dict,
    ExceptHandler,
    Expr,
    FunctionDef,
    Global,
    IfExp,
    Lambda,
    List,
    MatchCase,
    Module,
    Name,
    NamedExpr,
    Node,
    Nonlocal,
    Parameter,
    Return,
    Set,
    Subscript,
    Tuple,
    Unary,
)
from amplint.model.walks import children, own_returns, targets

# ("name", id, frame or module) ("attr", term, name) ("item", term, term) ("const", type, value) ("call", term, args)
# ("op", operator, terms) ("cmp", operator, left, right) ("not", term) ("and" | "or", terms) ("if", test, yes, no)
# ("display", has elements) ("opaque", identity): equal to nothing but itself
Term = tuple[object, ...]

OPAQUE: Term = ("opaque",)


class Terms:
    """The terms of expressions in the frames of one graph.

    properties: the names of properties that hand on an attribute of the same object, and of that attribute.
    answering: by call and frame, what the methods read that do nothing but answer.
    """

    def __init__(
        self,
        graph: Graph,
        properties: Mapping[str, str] | None = None,
        answering: Mapping[tuple[int, int], Answering] | None = None,
    ) -> None:
        self.frames = graph.frames
        self._properties = properties or {}
        self._answering = answering or {}
        self._bound: dict[int, dict[str, int]] = {}
        self._names: dict[tuple[str, int], Term] = {}
        self._nested: dict[Owner, set[Node]] = {}
        self._opened = graph.opened()

    def of(self, expr: Node | None, frame: int) -> Term:
        """The term of an expression that a frame evaluates."""
        match expr:
            case Name():
                return self.name(expr.id, frame)
            case Attribute():
                return self.attribute(self.of(expr.value, frame), expr.attr)
            case NamedExpr():
                return self.of(expr.target, frame)
            case Call() if (opened := self._opened.get((id(expr), frame))) is not None:
                return self.of(sole_return(self.frames[opened].function), opened)
            case Call(func=Name(id="super"), args=()) if (me := receiver(self.frames[frame].function)) is not None:
                return self.name(me, frame)  # the same object, seen as one of its bases
            case None:
                return OPAQUE
            case _:
                term = composed(expr, lambda part: self.of(part, frame))
                answering = self._answering.get((id(expr), frame))
                return term if answering is None else answering.of(term)

    def name(self, name: str, frame: int) -> Term:
        """The term of a name: a local of this activation or of one around it, a parameter's argument, or a global."""
        key = (name, frame)
        term = self._names.get(key)
        if term is None:
            self._names[key] = ("name", name, frame)  # a recursive argument is a local
            self._names[key] = term = self._resolve(name, frame)
        return term

    def attribute(self, base: Term, name: str) -> Term:
        """The term of an attribute; a property that only hands on another attribute is that one."""
        return ("attr", base, self._properties.get(name, name))

    def locals(self, frame: int) -> tuple[str, ...]:
        """The names that the function of a frame binds."""
        return tuple(self._bindings(self.frames[frame].function))

    def times_bound(self, name: str, frame: int) -> int:
        """How often the function of a frame binds a name."""
        return self._bindings(self.frames[frame].function).get(name, 0)

    def _resolve(self, name: str, frame: int) -> Term:
        here = self.frames[frame]
        times = self._bindings(here.function).get(name, 0)
        captured = next((p for p in here.passed if p.parameter.name == name), None) if not times else None
        if captured is not None:
            term = OPAQUE if captured.value is None else self.of(captured.value, captured.frame)
            return term if is_place(term) or term[0] == "const" else ("name", name, frame)
        if times and not isinstance(here.function, Module):
            for passing in here.passed:
                if passing.parameter.name == name and times == 1 and passing.value is not None:
                    term = self.of(passing.value, passing.frame)
                    if is_place(term) or term[0] == "const":
                        return term
            return ("name", name, frame)
        around = here.parent
        while around >= 0:
            if self._bindings(self.frames[around].function).get(name) and self._encloses(around, frame):
                return self.name(name, around)
            around = self.frames[around].parent
        return ("name", name, "" if hasattr(builtins, name) else here.module)

    def _bindings(self, function: Owner) -> dict[str, int]:
        key = id(function)
        if key not in self._bound:
            self._bound[key] = bindings(function)
        return self._bound[key]

    def _encloses(self, outer: int, inner: int) -> bool:
        return self.frames[inner].function in self._within(self.frames[outer].function)

    def _within(self, function: Owner) -> set[Node]:
        """The functions defined anywhere within a function."""
        if function not in self._nested:
            inside = self._nested[function] = set()
            stack = list(children(function))
            while stack:
                node = stack.pop()
                if isinstance(node, (FunctionDef, Lambda)):
                    inside.add(node)
                stack.extend(children(node))
        return self._nested[function]


def composed(expr: Node, of: Callable[[Expr], Term]) -> Term:
    """The term of an expression by its form, out of those of its parts."""
    match expr:
        case Constant():
            return ("const", type(expr.value).__name__, expr.value)
        case Attribute():
            return ("attr", of(expr.value), expr.attr)
        case Subscript():
            return ("item", of(expr.value), of(expr.index))
        case Call():
            return ("call", of(expr.func), tuple((a.star or a.name or "", of(a.value)) for a in expr.args))
        case Unary(op="not"):
            return ("not", of(expr.operand))
        case Unary(op="-", operand=Constant(value=int() | float() as value)):
            return ("const", type(value).__name__, -value)
        case Unary():
            return ("op", expr.op, (of(expr.operand),))
        case Binary():
            return ("op", expr.op, (of(expr.left), of(expr.right)))
        case BoolOp():
            return (expr.op, tuple(of(value) for value in expr.values))
        case Compare():
            return _compared(expr, of)
        case IfExp():
            return ("if", of(expr.test), of(expr.body), of(expr.orelse))
        case Tuple() | List() | Set():
            return ("display", *(of(element) for element in expr.elts))
        case Dict() if expr.values:  # an empty one is made to be filled, by assignments to what is not there yet
            return ("display", *(of(value) for value in expr.values))
        case _:
            return OPAQUE


def _compared(expr: Compare, of: Callable[[Expr], Term]) -> Term:
    sides = [of(side) for side in (expr.left, *expr.comparators)]
    parts: list[Term] = [("cmp", op, left, right) for op, left, right in zip(expr.ops, sides, sides[1:], strict=False)]
    return parts[0] if len(parts) == 1 else ("and", tuple(parts))


def is_place(term: Term) -> bool:
    """Whether a term is a name, or attributes and constant items of one."""
    while term[0] in ("attr", "item"):
        if term[0] == "item" and term[2][0] != "const":  # type: ignore[index]
            return False
        term = term[1]  # type: ignore[assignment]
    return term[0] == "name"


def contains(term: object, part: Term) -> bool:
    """Whether a term reads a place."""
    if term == part:
        return True
    if type(term) is tuple:
        for piece in term:
            if type(piece) is tuple and contains(piece, part):
                return True
    return False


def parts(term: Term) -> Iterator[Term]:
    """A term and all terms in it."""
    stack: list[Term] = [term]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(piece for piece in current if isinstance(piece, tuple))


def replaced(term: Term, part: Term, by: Term) -> Term:
    """The term with one place replaced by what was assigned to it."""
    if term == part:
        return by
    return tuple(replaced(piece, part, by) if isinstance(piece, tuple) else piece for piece in term)


def bindings(function: Owner) -> dict[str, int]:
    """How often each name is bound in a function's own scope; parameters count as one binding."""
    found: dict[str, int] = {}
    outer: set[str] = set()

    def bind(name: str) -> None:
        found[name] = found.get(name, 0) + 1

    stack: list[tuple[Node, bool]] = []
    if isinstance(function, (FunctionDef, Lambda)):
        for parameter in function.parameters:
            bind(parameter.name)
    body: tuple[Node, ...] = (function.body,) if isinstance(function, Lambda) else function.body
    stack.extend((node, False) for node in body)
    while stack:
        node, is_target = stack.pop()
        match node:
            case Name():
                if is_target:
                    bind(node.id)
            case Global() | Nonlocal():
                outer.update(node.names)
            case FunctionDef() | ClassDef():
                bind(node.name)
            case Lambda() | Parameter():
                pass
            case _:
                for name in _bound_by(node):
                    bind(name)
                stack.extend((child, _is_target(node, child, is_target)) for child in children(node))
    return {name: times for name, times in found.items() if name not in outer}


def _bound_by(node: Node) -> tuple[str, ...]:
    match node:
        case Alias():
            return (node.asname or node.name.partition(".")[0],)
        case ExceptHandler(name=str(name)):
            return (name,)
        case MatchCase():
            return node.pattern.captures
        case _:
            return ()


def _is_target(parent: Node, child: Node, is_target: bool) -> bool:
    if isinstance(parent, (Attribute, Subscript)):
        return False
    return child in targets(parent) or is_target


def sole_return(function: Owner) -> Expr | None:
    """The expression whose value every call of a function returns, where there is only one."""
    if isinstance(function, Lambda):
        return function.body
    last = function.body[-1]
    if not isinstance(last, Return) or not isinstance(function, FunctionDef):
        return None
    return last.value if len(own_returns(function)) == 1 else None


def place(expr: Expr, frame: int, terms: Terms) -> Term:
    """What an assignment to a target changes: the target, or the whole container where the item is not constant."""
    term = terms.of(expr, frame)
    while not is_place(term) and term[0] in ("attr", "item"):
        term = term[1]  # type: ignore[assignment]
    return term
