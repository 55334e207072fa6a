"""What a step assigns: the places that change, each with the term of its new value where that can be told."""

from collections.abc import Iterator

from amplint.flow.formulas import last_name
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import Term, Terms, is_place, place
from amplint.model.tree import (
    Alias,
    AnnAssign,
    Assign,
    AugAssign,
    Call,
    ClassDef,
    Delete,
    ExceptHandler,
    Expr,
    For,
    FunctionDef,
    Generator,
    Import,
    ImportFrom,
    List,
    MatchCase,
    NamedExpr,
    Node,
    Starred,
    Tuple,
    TypeAlias,
    WithItem,
)

# Methods by which a collection takes something in, and those that make an empty one full or the other way round.
TAKING_IN = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault"})
FILLING = TAKING_IN | {"pop", "popleft", "popitem", "remove", "clear"}
Write = tuple[Term, Term | None]


def writes(step: Step, terms: Terms) -> Iterator[Write]:
    """The places that a step changes; None stands for a new value that nothing is known of."""
    if step.kind is StepKind.BIND:
        yield from _bound(step.node, step.frame, terms)
    elif step.kind is StepKind.OPEN:
        yield from _opened(step.opened, terms)
    elif step.kind in (StepKind.CALL, StepKind.ENTER):
        yield from _called(step, terms)


def _bound(node: Node, frame: int, terms: Terms) -> Iterator[Write]:
    match node:
        case Assign():
            for target in node.targets:
                yield from _assigned(target, node.value, frame, terms)
        case AnnAssign() | NamedExpr():
            yield from _assigned(node.target, node.value, frame, terms)
        case AugAssign():
            new = ("op", node.op, (terms.of(node.target, frame), terms.of(node.value, frame)))
            yield place(node.target, frame, terms), new
        case For() | Generator():
            yield from _assigned(node.target, None, frame, terms)
        case WithItem():
            if node.target is not None:
                yield from _assigned(node.target, None, frame, terms)
        case Delete():
            for target in node.targets:
                yield from _assigned(target, None, frame, terms)
        case _:
            for name in _named(node):
                yield terms.name(name, frame), None


def _named(node: Node) -> tuple[str, ...]:
    match node:
        case FunctionDef() | ClassDef():
            return (node.name,)
        case ExceptHandler():
            return (node.name,) if node.name is not None else ()
        case MatchCase():
            return node.pattern.captures
        case Import() | ImportFrom():
            return tuple(map(_imported, node.names))
        case _:
            assert isinstance(node, TypeAlias)
            return (node.name.id,)


def _imported(alias: Alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _assigned(target: Expr, new: Expr | None, frame: int, terms: Terms) -> Iterator[Write]:
    if isinstance(target, Starred):
        yield from _assigned(target.value, None, frame, terms)
    elif isinstance(target, (Tuple, List)):
        values: tuple[Expr | None, ...] = (None,) * len(target.elts)
        if isinstance(new, (Tuple, List)) and len(new.elts) == len(target.elts):
            is_starred = any(isinstance(part, Starred) for part in (*new.elts, *target.elts))
            values = values if is_starred else new.elts
        for part, value in zip(target.elts, values, strict=True):
            yield from _assigned(part, value, frame, terms)
    else:
        yield place(target, frame, terms), terms.of(new, frame) if new is not None else None


def _opened(frame: int, terms: Terms) -> Iterator[Write]:
    """A call begins: its parameters get their arguments, and what its locals were in an earlier call is gone."""
    passed = {passing.parameter.name: passing for passing in terms.frames[frame].passed}
    for name in terms.locals(frame):
        term = terms.name(name, frame)
        if term == ("name", name, frame):
            passing = passed.get(name)
            is_known = passing is not None and passing.value is not None
            yield term, terms.of(passing.value, passing.frame) if is_known and passing is not None else None


def _called(step: Step, terms: Terms) -> Iterator[Write]:
    """Calls that change what a question may read: `len(queue)` after `queue.append()`, the flags of `accumulate()`."""
    call = step.node.context if isinstance(step.node, WithItem) else step.node
    if not isinstance(call, Call):
        return
    func = terms.of(call.func, step.frame)
    if func[0] != "attr" or not is_place(func):
        return
    holder: Term = func[1]  # type: ignore[assignment]
    if last_name(func) == "accumulate":
        yield ("attr", holder, "sync_gradients"), None
    if last_name(func) in FILLING:
        yield holder, None
    yield ("call", ("name", "len", ""), (("", holder),)), None
