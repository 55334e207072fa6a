"""How the value that runs backward came about: what it was divided by on its way, and whether a mean is known in it.

Follows names, augmented assignments, arguments, returns and the scaler's `scale`; any division by something that is
not a constant counts, so that a wrong reading errs towards silence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amplint.facts.classes import method
from amplint.facts.origins import Origin, Origins, returns
from amplint.facts.protocol import Reading
from amplint.knowledge.training_api import MEAN_LOSS_FUNCTIONS, MEAN_LOSS_MODULES
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Await,
    Binary,
    Call,
    ClassDef,
    Constant,
    Expr,
    FunctionDef,
    IfExp,
    Name,
    NamedExpr,
    Node,
    Subscript,
    Tuple,
    Unary,
    walk,
)

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST = 60
TORCH_LOSSES = ("torch.nn.functional.", "torch.nn.")


@dataclass
class LossTrace:
    """divisors are the expressions that the loss was divided by (or multiplied by the inverse of).

    is_mean: some part of it is surely a mean over a micro-batch. is_weighted: it was multiplied by something that is
    not a constant, which may undo or replace a division. is_summed: some loss was made with reduction="sum".
    """

    reading: Reading
    loss: Expr
    frame: int
    divisors: list[tuple[Expr, Node]] = field(default_factory=list)
    is_mean: bool = False
    is_weighted: bool = False
    is_summed: bool = False
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._follow(self.loss, self.frame)

    def _follow(self, expr: Node | None, frame: int) -> None:
        if expr is None or (id(expr), frame) in self._seen or len(self._seen) > MOST:
            return
        self._seen.add((id(expr), frame))
        match expr:
            case Name() | Subscript() | Attribute():
                self._place(expr, frame)
            case Binary():
                self._binary(expr, frame)
            case Unary():
                self._follow(expr.operand, frame)
            case NamedExpr() | Await():
                self._follow(expr.value, frame)
            case IfExp():
                self._follow(expr.body, frame)
                self._follow(expr.orelse, frame)
            case Tuple():
                for part in expr.elts:
                    self._follow(part, frame)
            case Call():
                self._call(expr, frame)
            case _:
                pass

    def _binary(self, expr: Binary, frame: int) -> None:
        if expr.op in ("/", "//"):
            self.divisors.append((expr.right, expr))
            self._follow(expr.left, frame)
        elif expr.op == "*":
            self._factor(expr.left)
            self._factor(expr.right)
            self._follow(expr.left, frame)
            self._follow(expr.right, frame)
        else:
            self._follow(expr.left, frame)
            self._follow(expr.right, frame)

    def _factor(self, factor: Expr) -> None:
        """`loss * (1 / n)` divides; a constant factor is a weight of the loss that has nothing to do with groups."""
        if isinstance(factor, Binary) and factor.op == "/" and isinstance(factor.left, Constant):
            self.divisors.append((factor.right, factor))
        elif isinstance(factor, Name | Attribute) and _may_undo(factor):
            self.is_weighted = True

    def _place(self, expr: Name | Attribute | Subscript, frame: int) -> None:
        place = self.reading.scene.terms.of(expr, frame)
        function = self.reading.scene.frames[frame].function
        for node in walk(function):
            match node:
                case Assign(targets=targets, value=value):
                    for target in targets:
                        if self._is_at(target, place, frame):
                            self._follow(value, frame)
                case AnnAssign(target=target, value=value) if value is not None and self._is_at(target, place, frame):
                    self._follow(value, frame)
                case AugAssign() if self._is_at(node.target, place, frame):
                    self._augmented(node, frame)
                case _:
                    pass
        for passing in self.reading.scene.frames[frame].passed:
            if isinstance(expr, Name) and passing.parameter.name == expr.id and passing.value is not None:
                self._follow(passing.value, passing.frame)

    def _augmented(self, node: AugAssign, frame: int) -> None:
        if node.op in ("/", "//"):
            self.divisors.append((node.value, node))
        elif node.op == "*":
            self._factor(node.value)
            if not isinstance(node.value, Constant):
                self.is_weighted = True
        elif node.op in ("+", "-"):
            self._follow(node.value, frame)

    def _is_at(self, target: Node, place: object, frame: int) -> bool:
        return not isinstance(target, Tuple) and self.reading.scene.terms.of(target, frame) == place

    def _call(self, call: Call, frame: int) -> None:
        func = call.func
        name = func.attr if isinstance(func, Attribute) else func.id if isinstance(func, Name) else ""
        if name == "scale" and call.args:
            self._follow(call.args[0].value, frame)
            return
        if isinstance(func, Attribute) and name in ("mean", "sum"):
            self.is_mean = self.is_mean or name == "mean"
            self._follow(func.value, frame)
            return
        if isinstance(func, Attribute) and name in ("div", "div_", "true_divide") and call.args:
            self.divisors.append((call.args[0].value, call))
            self._follow(func.value, frame)
            return
        if name in ("sum", "cast", "mean", "float") and call.args:
            self.is_mean = self.is_mean or name == "mean"
            self._follow(call.args[-1].value, frame)
            return
        self._loss_call(call, name, frame)

    def _loss_call(self, call: Call, name: str, frame: int) -> None:
        home = self.reading.scene.homes[frame]
        canonical = home.names.canonical(call.func)
        if canonical is not None and canonical.startswith(TORCH_LOSSES) and name in MEAN_LOSS_FUNCTIONS:
            self._reduced(call)
            return
        for origin in Origins().of(home, call.func, self.reading.scene.activation(frame)):
            self._made(origin)
        opened = self._opened(call, frame)
        if opened is not None:
            function = self.reading.scene.frames[opened].function
            if isinstance(function, FunctionDef):
                for value in returns(function):
                    self._follow(value, opened)
            return
        for function_home, function in self._callees(call, frame):
            for value in returns(function):
                self._unseen_return(function_home, value)

    def _made(self, origin: Origin) -> None:
        """A criterion object: a torch loss module tells its reduction by how it was made."""
        if not isinstance(origin.expr, Call):
            return
        for name in origin.facts.names.meaning(origin.expr.func).names:
            if name.startswith("torch.nn.") and name.rpartition(".")[2] in MEAN_LOSS_MODULES:
                self._reduced(origin.expr)

    def _reduced(self, call: Call) -> None:
        reduction = next((a.value for a in call.args if a.name == "reduction"), None)
        is_old = any(a.name in ("size_average", "reduce") for a in call.args)
        if reduction is None and not is_old and not any(a.star for a in call.args):
            self.is_mean = True
        elif isinstance(reduction, Constant):
            self.is_mean = self.is_mean or reduction.value in ("mean", "batchmean")
            self.is_summed = self.is_summed or reduction.value == "sum"

    def _opened(self, call: Call, frame: int) -> int | None:
        frames = self.reading.scene.frames
        return next((n for n, f in enumerate(frames) if f.call is call and f.parent == frame), None)

    def _callees(self, call: Call, frame: int) -> "Iterator[tuple[Facts, FunctionDef]]":
        """Functions in sight that are not part of the graph because nothing in them concerns a step."""
        home = self.reading.scene.homes[frame]
        canonical = home.names.canonical(call.func)
        target = home.definition(canonical) if canonical is not None else None
        if target is None:
            klass = Origins().klass(home, call.func, self.reading.scene.activation(frame))
            found = (method(*klass, "forward") or method(*klass, "__call__")) if klass is not None else None
            if found is not None:
                yield found
        elif isinstance(target[1], FunctionDef):
            yield target[0], target[1]
        elif isinstance(target[1], ClassDef):
            return

    def _unseen_return(self, home: "Facts", value: Expr) -> None:
        """A helper's return counts as a mean only if it is one loss call; its divisions count in any case."""
        for node in walk(value):
            if isinstance(node, Binary) and node.op in ("/", "//"):
                self.divisors.append((node.right, node))
            if isinstance(node, Binary) and node.op == "*":
                self.is_weighted = True
        if isinstance(value, Call):
            canonical = home.names.canonical(value.func)
            last = canonical.rpartition(".")[2] if canonical is not None else ""
            if canonical is not None and canonical.startswith(TORCH_LOSSES) and last in MEAN_LOSS_FUNCTIONS:
                self._reduced(value)
        elif not isinstance(value, Constant):
            self.is_weighted = True


def _may_undo(factor: Name | Attribute) -> bool:
    """Whether a factor may be the inverse of a group's length, and not a part of the loss or its weight."""
    name = (factor.id if isinstance(factor, Name) else factor.attr).lower()
    return "loss" not in name and not name.startswith(("lambda", "weight", "alpha", "beta", "coef", "w_"))
