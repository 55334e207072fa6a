"""What becomes of `scaler.scale(x)` where it does not run backward: thrown away, read as a number, added to others.

Goes by single assignments: a name that may hold something else too is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplint.facts.protocol import Reading
from amplint.facts.spelling import spelled
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import (
    Assign,
    Attribute,
    AugAssign,
    Binary,
    Call,
    Constant,
    Expr,
    ExprStmt,
    FunctionDef,
    Lambda,
    Module,
    Name,
    Node,
    Return,
    walk,
)

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

READING = frozenset({"item", "detach", "tolist", "cpu", "numpy"})


@dataclass(frozen=True, slots=True, eq=False)
class ScaledValue:
    """One call of `scale`, in the module where it stands. name is what its value is called, where it has one name."""

    reading: Reading
    step: Step
    call: Call
    home: "Facts"
    name: str = ""

    @property
    def loss(self) -> Expr:
        """What is scaled."""
        return self.call.args[0].value

    @property
    def function(self) -> "FunctionDef | Lambda | Module":
        """The function in which it is scaled."""
        return self.home.index.function(self.call) or self.home.module

    def uses(self) -> list[Name]:
        """Where its name is read."""
        found = [node for node in walk(self.function) if isinstance(node, Name) and node.id == self.name]
        return [name for name in found if not self._is_target(name)]

    def _is_target(self, name: Name) -> bool:
        around = self.home.index.parents.get(name)
        return isinstance(around, Assign) and name in around.targets

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
                if isinstance(step.node, Call) and step.node.args and id(step.node) not in seen:
                    seen.add(id(step.node))
                    home = reading.scene.homes[step.frame]
                    self.found.append(ScaledValue(reading, step, step.node, home, _name(home, step.node)))

    def discarded(self) -> Iterator[ScaledValue]:
        """Values that nobody uses."""
        for value in self.found:
            around = value.home.index.parents.get(value.call)
            is_statement = isinstance(around, ExprStmt) and not isinstance(value.loss, Call)
            if is_statement or (value.name and isinstance(around, Assign) and not value.uses()):
                yield value

    def read(self) -> Iterator[tuple[ScaledValue, Node]]:
        """Values that are taken as numbers: `.item()`, `float(…)`, `total += …`, returned beside other things."""
        for value in self.found:
            for use in value.uses() if value.name else ():
                place = _read_at(value.home, use)
                if place is not None:
                    yield value, place

    def mixed(self) -> Iterator[tuple[ScaledValue, Binary]]:
        """Sums of a scaled and a plain term."""
        for value in self.found:
            for node in [value.call, *(value.uses() if value.name else ())]:
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
        return False


def _name(home: "Facts", call: Call) -> str:
    """The name that the value alone is assigned to, and nothing else is."""
    around = home.index.parents.get(call)
    if not isinstance(around, Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], Name):
        return ""
    target = around.targets[0]
    bindings = home.names.lookup(target.id, target)
    is_only = all(binding.value is None or _scales(binding.value) for binding in bindings)
    return target.id if is_only and not any(binding.kind != "assignment" for binding in bindings) else ""


def _scales(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.func, Attribute) and value.func.attr == "scale"


def _read_at(home: "Facts", use: Name) -> Node | None:
    around = home.index.parents.get(use)
    if isinstance(around, Attribute) and around.attr in READING:
        call = home.index.parents.get(around)
        return call if isinstance(call, Call) and not _is_divided(home, call) else None
    if isinstance(around, AugAssign) and around.value is use and around.op == "+":
        return around
    outer = home.index.parents.get(around) if around is not None else None
    if isinstance(outer, Call) and isinstance(outer.func, Name) and outer.func.id == "float":
        return None if _is_divided(home, outer) else outer
    return around if isinstance(around, Return) and around.value is not use else None


def _is_divided(home: "Facts", node: Node) -> bool:
    around = home.index.parents.get(node)
    return isinstance(around, Binary) and around.op in "/*"
