"""Methods that only answer: `self._is_mixed(self.precision)` says the same at every call until what it reads changes.

Knows what such a body may consist of; refuses a body with a loop, an assignment to an attribute or a call of another
method.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callees import Callees, is_self
from amplint.flow.answering import Answering
from amplint.flow.formulas import answers_alike, is_constructor, last_name
from amplint.flow.graph import Frame, Step, StepKind
from amplint.flow.terms import Term, composed, is_place
from amplint.model.tree import (
    AnnAssign,
    Assert,
    Assign,
    Attribute,
    Await,
    Call,
    Constant,
    ExprStmt,
    FunctionDef,
    If,
    Lambda,
    Name,
    Node,
    Pass,
    Raise,
    Return,
    Stmt,
    Yield,
)
from amplint.model.walks import dotted, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST_NODES = 200
# What gives the same for the same, whatever it is called on.
CONVERTING = frozenset(
    {
        *("abs", "all", "any", "bool", "float", "int", "max", "min", "str", "tuple"),
        *("endswith", "lower", "startswith", "strip", "upper"),
    }
)


def answering(steps: Iterable[Step], frames: tuple[Frame, ...], callees: Callees) -> dict[tuple[int, int], Answering]:
    """The calls, by identity and frame, of methods of one's own object that only answer."""
    known: dict[int, Answering | None] = {}
    found: dict[tuple[int, int], Answering] = {}
    for step in steps:
        call = step.node
        if step.kind is not StepKind.CALL or not isinstance(call, Call) or not _may_answer(call, frames[step.frame]):
            continue
        method = callees.function(call, step.frame, frames)
        if method is None:
            continue
        home, function = method
        if id(function) not in known:
            known[id(function)] = _answering(home, function)
        told = known[id(function)]
        if told is not None:
            found[id(call), step.frame] = told
    return found


def _may_answer(call: Call, frame: Frame) -> bool:
    """Whether a call is of a method of one's own object that is asked about names, attributes and constants."""
    match call.func:
        case Attribute(value=Name(id=me)) if is_self(frame.function, me):
            return all(_is_plain(argument.value) and not argument.star for argument in call.args)
        case _:
            return False


def _is_plain(expr: Node) -> bool:
    while isinstance(expr, Attribute):
        expr = expr.value
    return isinstance(expr, Name | Constant)


def _answering(home: "Facts", function: FunctionDef) -> Answering | None:
    """What a method reads of its object, None where it does anything but answer."""
    if function.decorators or not function.parameters or not isinstance(function.body[-1], Return):
        return None
    nodes = [node for statement in function.body for node in walk(statement)]
    if len(nodes) > MOST_NODES or not all(map(_only_answers, function.body)):
        return None
    raised = {id(node) for statement in nodes if isinstance(statement, Raise) for node in walk(statement)}
    if any(isinstance(node, Yield | Await | Lambda) for node in nodes):
        return None
    if not all(_tells_the_same(node) for node in nodes if isinstance(node, Call) and id(node) not in raised):
        return None
    me = function.parameters[0].name
    reads = tuple(dict.fromkeys(_reads(nodes, me)))
    bare = sum(isinstance(node, Name) and node.id == me for node in nodes)
    used = sum(isinstance(node, Attribute) and isinstance(node.value, Name) and node.value.id == me for node in nodes)
    return Answering(f"{home.path}:{function.span.line}", reads) if bare == used else None


def _only_answers(statement: Stmt) -> bool:
    match statement:
        case If():
            return all(map(_only_answers, (*statement.body, *statement.orelse)))
        case Assign():
            return all(isinstance(target, Name) for target in statement.targets)
        case AnnAssign():
            return isinstance(statement.target, Name)
        case ExprStmt():
            return isinstance(statement.value, Constant)
        case _:
            return isinstance(statement, Return | Raise | Assert | Pass)


def _tells_the_same(call: Call) -> bool:
    """Whether a call gives the same for the same; a class in a test is one that its argument is made into."""
    term = composed(call, _said)
    func: Term = term[1]  # type: ignore[assignment]
    if last_name(func) in CONVERTING or answers_alike(term):
        return True
    return is_constructor(func) and all(is_place(given) for _, given in term[2])  # type: ignore[attr-defined]


def _said(part: Node) -> Term:
    return ("name", part.id, "") if isinstance(part, Name) else composed(part, _said)


def _reads(nodes: list[Node], me: str) -> Iterator[tuple[str, ...]]:
    """The attributes that are looked at, each with those on the way to it."""
    for node in nodes:
        names = (dotted(node) or "").split(".") if isinstance(node, Attribute) else []
        if names[:1] == [me]:
            yield tuple(names[1:])
