"""How expressions are evaluated: calls in their order, short circuits and comprehensions as branches and loops.

Draws no branch where nothing but values depends on it, and never enters a lambda.
"""

from amplint.flow.exits import Exits
from amplint.flow.graph import EdgeKind, IsEntered, StepKind
from amplint.model.tree import (
    Assert,
    Attribute,
    BoolOp,
    Call,
    Comprehension,
    Constant,
    Expr,
    IfExp,
    Lambda,
    List,
    NamedExpr,
    Node,
    Set,
    Starred,
    Tuple,
    Unary,
    Yield,
)
from amplint.model.walks import children, dotted

# Calls that end the function: by SystemExit, which `finally` and bare handlers see, or at once.
EXITS = frozenset({"sys.exit", "exit", "quit"})
ABORTS = frozenset({"os._exit", "os.abort"})


def has_effect(expr: Node) -> bool:
    """Whether evaluating an expression makes a call, yields or binds a name."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, (Call, Yield, NamedExpr)):
            return True
        if isinstance(node, Lambda):
            stack.extend(p.default for p in node.parameters if p.default is not None)
        else:
            stack.extend(children(node))
    return False


def is_filled(expr: Expr) -> bool:
    """Whether a display has an element for sure, so that a loop over it takes a turn."""
    if isinstance(expr, (Tuple, List, Set)):
        return any(not isinstance(element, Starred) for element in expr.elts)
    if isinstance(expr, Call) and dotted(expr.func) == "range" and len(expr.args) == 1:
        stop = expr.args[0].value
        return isinstance(stop, Constant) and isinstance(stop.value, int) and stop.value > 0
    return False


class Expressions(Exits):
    """Draws the evaluation of expressions from the current block on."""

    def __init__(self, is_entered: IsEntered, is_guarded: bool) -> None:
        super().__init__(is_guarded)
        self.is_entered = is_entered

    def evaluate(self, expr: Node | None) -> None:
        """Evaluate for the value."""
        match expr:
            case None | Constant():
                return
            case Call():
                self._call(expr)
            case BoolOp() if any(map(has_effect, expr.values[1:])):
                self._short_circuit(expr)
            case IfExp() if has_effect(expr.body) or has_effect(expr.orelse):
                self._conditional(expr)
            case NamedExpr():
                self.evaluate(expr.value)
                self.append(StepKind.BIND, expr)
            case Yield():
                self.evaluate(expr.value)
                self.append(StepKind.YIELD, expr)
            case Comprehension():
                self._comprehension(expr)
            case Lambda():
                self.evaluate_defaults(expr)
            case _:
                for child in children(expr):
                    self.evaluate(child)

    def evaluate_defaults(self, function: Lambda) -> None:
        """The defaults of parameters are evaluated where the function is defined."""
        for parameter in function.parameters:
            self.evaluate(parameter.default)

    def branch(self, test: Expr, yes: int, no: int) -> None:
        """Evaluate for the truth, and go on in one of two blocks."""
        match test:
            case Constant():
                self.jump(yes if test.value else no)
            case Unary(op="not"):
                self.branch(test.operand, no, yes)
            case BoolOp():
                for value in test.values[:-1]:
                    after = self.new()
                    self.branch(value, *((after, no) if test.op == "and" else (yes, after)))
                    self.enter(after)
                self.branch(test.values[-1], yes, no)
            case IfExp():
                body, orelse = self.new(), self.new()
                self.branch(test.test, body, orelse)
                self.enter(body)
                self.branch(test.body, yes, no)
                self.enter(orelse)
                self.branch(test.orelse, yes, no)
            case _:
                self.evaluate(test)
                self.append(StepKind.TEST, test)
                self.connect(yes, EdgeKind.BRANCH, test, True)
                self.connect(no, EdgeKind.BRANCH, test, False)
                self.current = None

    def _call(self, call: Call) -> None:
        self.evaluate(call.func.value if isinstance(call.func, Attribute) else call.func)
        for argument in call.args:
            self.evaluate(argument.value)
        self.append(StepKind.CALL, call)
        name = dotted(call.func)
        if name in EXITS:
            self.leave("raise", "SystemExit")
        elif name in ABORTS:
            self.current = None
        else:
            self.may_raise()

    def _short_circuit(self, expr: BoolOp) -> None:
        after = self.new()
        for value in expr.values[:-1]:
            further = self.new()
            self.branch(value, *((further, after) if expr.op == "and" else (after, further)))
            self.enter(further)
        self.evaluate(expr.values[-1])
        self.jump(after)
        self.enter(after)

    def _conditional(self, expr: IfExp) -> None:
        body, orelse, after = self.new(), self.new(), self.new()
        self.branch(expr.test, body, orelse)
        for block, value in ((body, expr.body), (orelse, expr.orelse)):
            self.enter(block)
            self.evaluate(value)
            self.jump(after)
        self.enter(after)

    def _comprehension(self, expr: Comprehension) -> None:
        first, *others = expr.generators
        self.evaluate(first.iter)
        parts: list[Node | None] = [expr.element, expr.value, *first.ifs, *others]
        if any(part is not None and has_effect(part) for part in parts):
            self._generate(expr, 0)

    def _generate(self, expr: Comprehension, level: int) -> None:
        """One loop for each `for` of the comprehension; the iterable of the first was evaluated outside."""
        generator = expr.generators[level]
        if level:
            self.evaluate(generator.iter)
        again, body, after = self.new(), self.new(), self.new()
        is_entered = is_filled(generator.iter) or (level == 0 and self.is_entered(expr))
        self.jump(body if is_entered else again)
        self.enter(again)
        self.connect(body, EdgeKind.TURN, expr)
        self.connect(after, EdgeKind.EXHAUSTED, expr)
        self.enter(body)
        self.append(StepKind.BIND, generator)
        for test in generator.ifs:
            passed = self.new()
            self.branch(test, passed, again)
            self.enter(passed)
        if level + 1 < len(expr.generators):
            self._generate(expr, level + 1)
        else:
            self.evaluate(expr.element)
            self.evaluate(expr.value)
        self.jump(again)
        self.enter(after)

    def check(self, statement: Assert) -> None:
        """`assert` raises where its test fails."""
        after, failed = self.new(), self.new()
        self.branch(statement.test, after, failed)
        self.enter(failed)
        self.evaluate(statement.msg)
        self.leave("raise", "AssertionError")
        self.enter(after)
