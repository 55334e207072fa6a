"""What a function in sight returns as a loss where it is not part of the graph, since nothing in it concerns a step.

Follows the function's own names, torch's losses and criterion objects. Anything else counts as a weight of its own,
so that a wrong reading errs towards silence.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.accumulation.loss_items import put_in
from amplint.facts.accumulation.models_in_sight import definition, forward_of, makers
from amplint.facts.accumulation.returned_parts import Part, parts_of
from amplint.facts.program.classes import method
from amplint.facts.program.given import given_back
from amplint.facts.program.origins import Activation, Origins
from amplint.facts.program.spelling import spelled
from amplint.knowledge.training_api import MEAN_LOSS_FUNCTIONS, MEAN_LOSS_MODULES
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    Await,
    Binary,
    Call,
    Constant,
    Dict,
    Expr,
    FunctionDef,
    IfExp,
    List,
    Name,
    NamedExpr,
    Node,
    Tuple,
    Unary,
)
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

DEEPEST = 12
# What programs call the number of their processes.
PROCESSES = frozenset({"world_size", "get_world_size", "worldsize", "num_processes", "nprocs", "n_gpus", "num_gpus"})
PARTIAL = "functools.partial"
TORCH_LOSSES = ("torch.nn.functional.", "torch.nn.")
# How the names of weights begin, and of the temperature of a distillation.
WEIGHTS = ("lambda", "lam", "alpha", "beta", "gamma", "temperature", "tau")
KEEPING = frozenset({"float", "squeeze", "contiguous", "to", "double"})


def is_number_of_processes(expr: Expr) -> bool:
    """Whether an expression says in its name that it is the number of processes."""
    if isinstance(expr, Call) and last_name(expr.func) in ("float", "int") and expr.args:
        expr = expr.args[0].value
    named = expr.func if isinstance(expr, Call) else expr
    return isinstance(named, Name | Attribute) and last_name(named).lower().lstrip("_") in PROCESSES


class Division(Value):
    """What a part of the loss was divided by, or multiplied by the inverse of; later are the divisions after it."""

    divisor: Expr
    node: Node
    later: "tuple[Division, ...]" = ()

    @property
    def is_by_processes(self) -> bool:
        """Whether the divisor is surely the number of processes alone, which is no group's length."""
        return is_number_of_processes(self.divisor)


Later = tuple[Division, ...]


class LossParts(Struct):
    """divisions are those on the way of any part of the loss.

    is_mean: some part of it is surely a mean over a micro-batch. is_weighted: it was multiplied by something that is
    not a constant, which may undo or replace a division. is_summed: some loss was made with reduction="sum".
    """

    divisions: list[Division] = field(default_factory=list)
    is_mean: bool = False
    is_weighted: bool = False
    is_summed: bool = False

    def divided(self, divisor: Expr, node: Node, later: Later) -> Later:
        """Note a division, and give those that come after all that it divides."""
        division = Division(divisor, node, later)
        if all(known.node is not node for known in self.divisions):
            self.divisions.append(division)
        return (division, *later)

    def made_by(self, home: "Facts", func: Expr, where: Activation | None = None) -> bool:
        """Note the reduction of a criterion object, which its constructor tells; whether it is a torch loss module."""
        is_found = False
        for facts, made in makers(home, func, where or Activation())[0]:
            names = facts.names.meaning(made.func).names if isinstance(made, Call) else frozenset()
            if PARTIAL in names and isinstance(made, Call) and made.args:
                bound = Call(made.span, made.args[0].value, made.args[1:])
                is_found = self.is_torch_loss(facts, bound) or is_found
            for name in names:
                if name.startswith("torch.nn.") and name.rpartition(".")[2] in MEAN_LOSS_MODULES:
                    assert isinstance(made, Call)
                    self.reduced(made)
                    is_found = True
        return is_found

    def is_torch_loss(self, home: "Facts", call: Call) -> bool:
        """Note the reduction of a call of a torch loss function; whether it is one."""
        canonical = home.names.canonical(call.func)
        if canonical is None or not canonical.startswith(TORCH_LOSSES):
            return False
        if canonical.rpartition(".")[2] not in MEAN_LOSS_FUNCTIONS:
            return False
        self.reduced(call)
        return True

    def reduced(self, call: Call) -> None:
        """Note what a call of a loss, or of its constructor, says of the reduction; a mean where it says nothing."""
        reduction = next((a.value for a in call.args if a.name == "reduction"), None)
        is_old = any(a.name in ("size_average", "reduce") for a in call.args)
        if reduction is None and not is_old and not any(a.star for a in call.args):
            self.is_mean = True
        elif isinstance(reduction, Constant):
            self.is_mean = self.is_mean or reduction.value in ("mean", "batchmean")
            self.is_summed = self.is_summed or reduction.value == "sum"


def is_weight(factor: Expr) -> bool:
    """Whether a factor is made of numbers and of what weights of losses are called."""
    match factor:
        case Constant():
            return True
        case Unary(op="-" | "+"):
            return is_weight(factor.operand)
        case Binary(op="+" | "-" | "*" | "**"):
            return is_weight(factor.left) and is_weight(factor.right)
        case Name() | Attribute():
            return last_name(factor).lower().lstrip("_").startswith(WEIGHTS)
        case _:
            return False


class ReturnedLoss:
    """Reads the returns of functions into the parts of a loss; later are the divisions of what they return.

    passed collects the parameters of the first function that are parts of the loss, with the divisions of each.
    """

    def __init__(self, parts: LossParts, later: Later = (), known: frozenset[str] = frozenset()) -> None:
        self._parts = parts
        self._later = later
        self._known = known
        self._first: FunctionDef | None = None
        self._seen: set[int] = set()
        self.passed: list[tuple[str, Later]] = []

    def of(self, home: "Facts", function: FunctionDef, call: Call, part: Part | None = None) -> None:
        """Read a function that returns the loss to a call, alone or as that part of what it returns."""
        self._first = function
        self._of(home, function, call, part, DEEPEST, self._later)

    def value(self, home: "Facts", expr: Expr) -> None:
        """Read what a method put into an attribute."""
        self._follow(home, expr, DEEPEST, self._later)

    def _of(
        self, home: "Facts", function: FunctionDef, call: Call, part: Part | None, depth: int, later: Later
    ) -> None:
        for value in given_back(home, function, call):
            if part is None:
                self._follow(home, value, depth, later)
                continue
            parts = list(parts_of(home, value, part))
            # What is taken by a name out of something unknown may be a weight as well as a loss.
            if not parts and isinstance(part, int) and not isinstance(value, Constant):
                self._parts.is_weighted = True
            for each in parts:
                self._follow(home, each, depth, later)

    def _follow(self, home: "Facts", expr: Expr, depth: int, later: Later) -> None:
        if id(expr) in self._seen:
            return
        self._seen.add(id(expr))
        match expr:
            case Constant():
                pass
            case Name() if depth:
                self._name(home, expr, depth - 1, later)
            case Unary():
                self._follow(home, expr.operand, depth, later)
            case NamedExpr() | Await():
                self._follow(home, expr.value, depth, later)
            case IfExp():
                self._follow(home, expr.body, depth, later)
                self._follow(home, expr.orelse, depth, later)
            case Binary():
                self._binary(home, expr, depth, later)
            case Call() if depth:
                self._call(home, expr, depth - 1, later)
            case Tuple() | List() | Dict():
                for part in expr.values if isinstance(expr, Dict) else expr.elts:
                    self._follow(home, part, depth, later)
            case _:
                self._parts.is_weighted = True

    def _name(self, home: "Facts", name: Name, depth: int, later: Later) -> None:
        for binding in home.names.lookup(name.id, name):
            if binding.kind == "parameter" and binding.scope is self._first and name.id in self._known:
                self.passed.append((name.id, later))
            elif binding.value is None:
                self._parts.is_weighted = True
            else:
                self._follow(home, binding.value, depth, later)
                if isinstance(binding.value, Dict | List):
                    self._collected(home, name, depth, later)

    def _collected(self, home: "Facts", name: Name, depth: int, later: Later) -> None:
        for value in put_in(home, name):
            if value is None:
                self._parts.is_weighted = True
            else:
                self._follow(home, value, depth, later)

    def _binary(self, home: "Facts", expr: Binary, depth: int, later: Later) -> None:
        if expr.op in ("/", "//"):
            self._follow(home, expr.left, depth, self._parts.divided(expr.right, expr, later))
            return
        sides = (expr.left, expr.right)
        parts = [side for side in sides if expr.op != "*" or not is_weight(side)]
        if expr.op == "*" and len(parts) == len(sides):
            self._parts.is_weighted = True
            return
        for part in parts:
            self._follow(home, part, depth, later)

    def _call(self, home: "Facts", call: Call, depth: int, later: Later) -> None:
        func = call.func
        if isinstance(func, Attribute) and func.attr == "mean":
            self._parts.is_mean = True
        elif isinstance(func, Attribute) and func.attr in KEEPING:
            self._follow(home, func.value, depth, later)
        elif home.names.canonical(func) == "typing.cast" and call.args:
            self._follow(home, call.args[-1].value, depth, later)
        elif not self._parts.is_torch_loss(home, call) and not self._parts.made_by(home, func):
            found = _function(home, func)
            if found is None:
                self._parts.is_weighted = True
            else:
                self._of(*found, call, None, depth, later)


def _function(home: "Facts", func: Expr) -> "tuple[Facts, FunctionDef] | None":
    canonical = home.names.canonical(func)
    target = definition(home, canonical) if canonical is not None else None
    if target is not None:
        return (target[0], target[1]) if isinstance(target[1], FunctionDef) else None
    if isinstance(func, Attribute):
        owner = Origins().klass(home, func.value)
        found = method(*owner, func.attr) if owner is not None else None
        if found is not None:
            return found
    return forward_of(home, func)


def is_divided_by(divisor: Expr, period: Expr | None) -> bool:
    """Whether a divisor is a group's length, perhaps as another kind of number: `float(steps)`."""
    if isinstance(divisor, Call) and isinstance(divisor.func, Name) and divisor.func.id in ("float", "int"):
        divisor = divisor.args[0].value if divisor.args else divisor
    return bool(spelled(period)) and spelled(divisor) == spelled(period)
