"""What becomes of `scaler.scale(x)` where it does not run backward: thrown away, read as a number, added to others.

A name that holds other values too (`loss = scaler.scale(loss)`) is followed only through the statements behind the
assignment in its own block, up to the next assignment: there it surely holds the scaled value.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.loss_sources import reads_gradient
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Entity
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    AugAssign,
    Binary,
    Call,
    Constant,
    Dict,
    Expr,
    ExprStmt,
    FunctionDef,
    JoinedString,
    Lambda,
    List,
    Module,
    Name,
    NamedExpr,
    Node,
    Return,
    Tuple,
)
from amplint.model.walks import last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

READING = frozenset({"item", "detach", "tolist", "cpu", "numpy"})
LOGGING = frozenset({"append", "add_scalar", "print", "log", "log_metric", "log_metrics", "info", "set_postfix"})


class ScaledValue(Entity):
    """One call of `scale`, in the module where it stands.

    name is what its value is assigned to, '' if nothing; is_only says that the name never holds another value.
    """

    reading: Reading
    step: Step
    call: Call
    home: "Facts"
    name: str = ""
    is_only: bool = False

    @property
    def loss(self) -> Expr:
        """What is scaled."""
        return self.call.args[0].value

    @property
    def function(self) -> "FunctionDef | Lambda | Module":
        """The function in which it is scaled."""
        return self.home.index.function(self.call) or self.home.module

    def uses(self) -> list[Expr]:
        """Where its name is read while it surely holds the scaled value."""
        if not self.name:
            return []
        return list(self._reads_in(self.function) if self.is_only else self._reads_behind())

    def _reads_in(self, root: Node) -> Iterator[Expr]:
        index = self.home.index
        for node in walk(root):
            if isinstance(node, Name | Attribute) and spelled(node) == self.name and not index.is_target(node):
                yield node

    def _reads_behind(self) -> Iterator[Expr]:
        index = self.home.index
        assignment = index.statement(self.call)
        _, block = index.block(assignment)
        for statement in block[block.index(assignment) + 1 :]:
            is_rebound = any(spelled(node) == self.name and index.is_target(node) for node in walk(statement))
            if is_rebound and not isinstance(statement, Assign | AugAssign):
                return
            yield from self._reads_in(statement)
            if is_rebound:
                return

    def backward_of_the_plain_loss(self) -> Call | None:
        """`loss.backward()` behind `scaler.scale(loss)`."""
        loss = spelled(self.loss)
        for node in walk(self.function):
            func = node.func if isinstance(node, Call) else None
            if isinstance(func, Attribute) and func.attr == "backward" and isinstance(node, Call):
                is_same = bool(loss) and spelled(func.value) == loss
                if is_same and node.span > self.call.span:
                    return node
        return None


class ScaledValues:
    """All calls of `scale` in one module's roots, each once."""

    def __init__(self, facts: "Facts") -> None:
        seen: set[int] = set()
        self.found: list[ScaledValue] = []
        for reading in facts.protocol:
            for step in reading.steps_of(EventKind.SCALE):
                is_call = isinstance(step.node, Call) and last_name(step.node.func) == "scale"
                if isinstance(step.node, Call) and is_call and step.node.args and id(step.node) not in seen:
                    seen.add(id(step.node))
                    home = reading.scene.homes[step.frame]
                    name = _name(home, step.node)
                    is_only = bool(name) and _is_only(home, step.node)
                    self.found.append(ScaledValue(reading, step, step.node, home, name, is_only))

    def discarded(self) -> Iterator[ScaledValue]:
        """Values that nobody uses."""
        for value in self.found:
            around = value.home.index.parents.get(value.call)
            is_statement = isinstance(around, ExprStmt) and not isinstance(value.loss, Call)
            if is_statement or (value.is_only and isinstance(around, Assign) and not value.uses()):
                yield value

    def read(self) -> Iterator[tuple[ScaledValue, Node]]:
        """Values that are taken as numbers: `.item()`, `float(…)`, `total += …`; logged or returned after backward."""
        for value in self.found:
            at_once = _read_at(value.home, value.call)
            if at_once is not None and self._trains_too(value):
                yield value, at_once
            uses = value.uses()
            backwards = [use for use in uses if _runs_backward(value.home, use)]
            for use in uses:
                is_spent = any(backward.span < use.span for backward in backwards)
                place = _read_at(value.home, use) or (_kept_at(value.home, use) if is_spent else None)
                if place is not None:
                    yield value, place

    def _trains_too(self, value: ScaledValue) -> bool:
        """Whether what is scaled there is a loss: it is scaled a second time in the function."""
        loss = spelled(value.loss)
        return bool(loss) and any(
            other is not value and other.function is value.function and spelled(other.loss) == loss
            for other in self.found
        )

    def mixed(self) -> Iterator[tuple[ScaledValue, Binary]]:
        """Sums of a scaled and a plain term."""
        for value in self.found:
            for node in [value.call, *value.uses()]:
                around = value.home.index.parents.get(node)
                if isinstance(around, Binary) and around.op in "+-":
                    other = around.right if around.left is node else around.left
                    if not isinstance(other, Constant) and not self._is_scaled(value, other):
                        yield value, around

    def _is_scaled(self, value: ScaledValue, expr: Expr) -> bool:
        """Whether a term has a scale, or may have one: it is no plain expression of this function."""
        names = {other.name for other in self.found if other.function is value.function and other.name}
        for node in walk(expr):
            if isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr in ("scale", "get_scale"):
                return True
            if isinstance(node, Name) and (node.id in names or "scale" in node.id):
                return True
        return self._holds_gradients(value, expr)

    def _holds_gradients(self, value: ScaledValue, expr: Expr) -> bool:
        """Whether a `.grad` is part of a term, or of what its names were given: it carries the scale of a backward."""
        given = (
            binding.value
            for node in walk(expr)
            if isinstance(node, Name)
            for binding in value.home.names.lookup(node.id, node)
        )
        return reads_gradient(expr) or any(each is not None and reads_gradient(each) for each in given)


def _name(home: "Facts", call: Call) -> str:
    """What the value as a whole is assigned to."""
    target = _target(home, call)
    return spelled(target) if isinstance(target, Name | Attribute) else ""


def _target(home: "Facts", call: Call) -> Expr | None:
    match home.index.parents.get(call):
        case Assign(targets=(target,)):
            return target
        case NamedExpr(target=target):
            return target
        case _:
            return None


def _is_only(home: "Facts", call: Call) -> bool:
    """Whether the name that the value is assigned to is a local that holds scaled values alone."""
    target = _target(home, call)
    if not isinstance(target, Name):
        return False
    bindings = home.names.lookup(target.id, target)
    return all(
        binding.kind == "assignment" and (binding.value is None or _scales(binding.value)) for binding in bindings
    )


def _scales(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.func, Attribute) and value.func.attr == "scale"


def _read_at(home: "Facts", use: Expr) -> Node | None:
    around = home.index.parents.get(use)
    if isinstance(around, Attribute) and around.attr in READING:
        call = home.index.parents.get(around)
        return call if isinstance(call, Call) and not _is_divided(home, call) else None
    if isinstance(around, AugAssign) and around.value is use and around.op == "+":
        return around
    outer = home.index.parents.get(around) if around is not None else None
    if isinstance(outer, Call) and isinstance(outer.func, Name) and outer.func.id == "float":
        return None if _is_divided(home, outer) else outer
    return None


def _runs_backward(home: "Facts", use: Expr) -> bool:
    around = home.index.parents.get(use)
    return isinstance(around, Attribute) and around.attr == "backward"


def _kept_at(home: "Facts", use: Expr) -> Node | None:
    """Where a value that has run backward is handed on: it can only serve as a number then."""
    around = home.index.parents.get(use)
    while isinstance(around, Tuple | List | Dict | JoinedString):
        around = home.index.parents.get(around)
    if isinstance(around, Return):
        return around
    call = home.index.parents.get(around) if isinstance(around, Argument) else None
    if not isinstance(call, Call):
        return None
    return call if last_name(call.func) in LOGGING else None


def _is_divided(home: "Facts", node: Node) -> bool:
    around = home.index.parents.get(node)
    return isinstance(around, Binary) and around.op in "/*"
