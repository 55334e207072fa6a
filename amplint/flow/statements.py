"""How statements run: every compound statement of Python as blocks and edges.

`build` is the way in. Nested functions and classes are one definition step; their bodies have graphs of their own.
"""

from amplint.flow.exits import CatchScope, CleanScope, LoopScope, Scope
from amplint.flow.expressions import Expressions, is_filled
from amplint.flow.graph import EdgeKind, Graph, IsEntered, Loop, Owner, StepKind
from amplint.model.tree import (
    AnnAssign,
    Assert,
    Assign,
    AugAssign,
    Break,
    Call,
    ClassDef,
    Continue,
    Delete,
    ExprStmt,
    For,
    FunctionDef,
    If,
    Import,
    ImportFrom,
    Lambda,
    Match,
    Name,
    Raise,
    Return,
    Stmt,
    Try,
    TypeAlias,
    While,
    With,
    WithItem,
)
from amplint.model.tree import Block as Body
from amplint.model.walks import last_name

# Context managers that may end the exception that leaves their body.
SWALLOWING = frozenset({"suppress", "ExitStack", "AsyncExitStack"})


def may_be_empty(_: Loop) -> bool:
    """Every loop may find nothing to loop over."""
    return False


def build(owner: Owner, is_entered: IsEntered = may_be_empty, *, is_guarded: bool = False) -> Graph:
    """The graph of a function, a lambda, a module or a class body.

    is_entered says of a loop that it takes at least one turn; loops over filled displays always do. is_guarded says
    that somebody handles the exceptions of the owner's calls: they have a way to `raised` then.
    """
    drawing = Statements(is_entered, is_guarded)
    if isinstance(owner, Lambda):
        drawing.evaluate(owner.body)
        drawing.append(StepKind.RETURN, owner.body)
    else:
        drawing.run(owner.body)
    drawing.jump(drawing.exit)
    return drawing.finish(owner)


class Statements(Expressions):
    """Draws statements from the current block on."""

    def run(self, body: Body) -> None:
        """One statement after the other, as far as control comes."""
        for statement in body:
            if self.current is None:
                return
            self._run_one(statement)

    def _run_one(self, statement: Stmt) -> None:
        match statement:
            case ExprStmt():
                self.evaluate(statement.value)
            case If():
                self._if(statement)
            case For():
                self._for(statement)
            case While():
                self._while(statement)
            case With():
                self._with(statement, 0)
            case Try():
                self._try(statement)
            case Match():
                self._match(statement)
            case Return() | Raise() | Break() | Continue() | Assert():
                self._go(statement)
            case Assign() | AnnAssign() | AugAssign() | Delete():
                self._bind(statement)
            case FunctionDef() | ClassDef():
                self._define(statement)
            case Import() | ImportFrom() | TypeAlias():
                self.append(StepKind.BIND, statement)
            case _:
                pass

    def _go(self, statement: Return | Raise | Break | Continue | Assert) -> None:
        match statement:
            case Return():
                self.evaluate(statement.value)
                self.append(StepKind.RETURN, statement)
                self.leave("return")
            case Raise():
                self.evaluate(statement.exc)
                self.evaluate(statement.cause)
                self.append(StepKind.RAISE, statement)
                self.leave("raise", _raised(statement))
            case Break():
                self.leave("break")
            case Continue():
                self.leave("continue")
            case Assert():
                self.check(statement)

    def _bind(self, statement: Assign | AnnAssign | AugAssign | Delete) -> None:
        match statement:
            case Assign():
                self.evaluate(statement.value)
                for target in statement.targets:
                    self.evaluate(target)
            case AnnAssign():
                if statement.value is None:
                    return
                self.evaluate(statement.value)
                self.evaluate(statement.target)
            case AugAssign():
                self.evaluate(statement.target)
                self.evaluate(statement.value)
            case Delete():
                for target in statement.targets:
                    self.evaluate(target)
        self.append(StepKind.BIND, statement)

    def _define(self, definition: FunctionDef | ClassDef) -> None:
        for decorator in definition.decorators:
            self.evaluate(decorator)
        if isinstance(definition, ClassDef):
            for base in definition.bases:
                self.evaluate(base.value)
        else:
            for parameter in definition.parameters:
                self.evaluate(parameter.default)
        self.append(StepKind.BIND, definition)

    def _if(self, statement: If) -> None:
        body, orelse, after = self.new(), self.new(), self.new()
        self.branch(statement.test, body, orelse)
        for block, branch in ((body, statement.body), (orelse, statement.orelse)):
            self.enter(block)
            self.run(branch)
            self.jump(after)
        self.enter(after)

    def _for(self, loop: For) -> None:
        again, body, orelse, after = self.new(), self.new(), self.new(), self.new()
        self.evaluate(loop.iter)
        self.jump(body if is_filled(loop.iter) or self.is_entered(loop) else again)
        self.enter(again)
        self.connect(body, EdgeKind.TURN, loop)
        self.connect(orelse, EdgeKind.EXHAUSTED, loop)
        self.enter(body)
        self.evaluate(loop.target)
        self.append(StepKind.BIND, loop)
        self._repeat(loop, again, orelse, after)

    def _while(self, loop: While) -> None:
        again, body, orelse, after = self.new(), self.new(), self.new(), self.new()
        self.jump(again)
        self.enter(again)
        self.branch(loop.test, body, orelse)
        self.enter(body)
        self._repeat(loop, again, orelse, after)

    def _repeat(self, loop: For | While, again: int, orelse: int, after: int) -> None:
        self._within(LoopScope(after, again), loop.body)
        self.jump(again)
        self.enter(orelse)
        self.run(loop.orelse)
        self.jump(after)
        self.enter(after)

    def _within(self, scope: Scope, body: Body) -> None:
        outside = self.scopes
        self.scopes = (*outside, scope)
        self.run(body)
        self.scopes = outside

    def _with(self, statement: With, index: int) -> None:
        """One item inside the other, each left on every way out of what it encloses."""
        if index == len(statement.items):
            self.run(statement.body)
            return
        item = statement.items[index]
        self.evaluate(item.context)
        self.append(StepKind.ENTER, item)
        if item.target is not None:
            self.evaluate(item.target)
            self.append(StepKind.BIND, item)
        outside, after = self.scopes, self.new()
        if _may_swallow(item):
            self.scopes = (*self.scopes, CatchScope(((item, after),)))
        self.scopes = (*self.scopes, CleanScope(lambda is_raised: self._leave(item, is_raised)))
        self.cut()
        self._with(statement, index + 1)
        self.scopes = outside
        self.cut()
        self.append(StepKind.LEAVE, item)
        self.jump(after)
        self.enter(after)

    def _leave(self, item: WithItem, is_raised: bool) -> None:
        self.append(StepKind.ABORT if is_raised else StepKind.LEAVE, item)

    def _try(self, statement: Try) -> None:
        outside, after = self.scopes, self.new()
        if statement.finalbody:
            self.scopes = (*outside, CleanScope(lambda _: self.run(statement.finalbody)))
        guarded = self.scopes
        handlers = tuple((handler, self.new()) for handler in statement.handlers)
        if handlers:
            self.scopes = (*guarded, CatchScope(handlers))
        self.cut()
        self.run(statement.body)
        self.scopes = guarded
        self.cut()
        self.run(statement.orelse)
        ends = [self.current]
        for handler, block in handlers:
            self.enter(block)
            self.evaluate(handler.type)
            if handler.name is not None:
                self.append(StepKind.BIND, handler)
            self.run(handler.body)
            ends.append(self.current)
        self.scopes = outside
        for end in ends:
            self.current = end
            self.jump(after)
        self.enter(after)
        self.run(statement.finalbody)

    def _match(self, statement: Match) -> None:
        after = self.new()
        self.evaluate(statement.subject)
        for case in statement.cases:
            fits, further = self.new(), self.new()
            if case.pattern.is_irrefutable:
                self.jump(fits)
            else:
                self.connect(fits, EdgeKind.CASE, case, True, statement.subject)
                self.connect(further, EdgeKind.CASE, case, False, statement.subject)
            self.enter(fits)
            if case.pattern.captures:
                self.append(StepKind.BIND, case)
            if case.guard is not None:
                body = self.new()
                self.branch(case.guard, body, further)
                self.enter(body)
            self.run(case.body)
            self.jump(after)
            self.enter(further)
        self.jump(after)
        self.enter(after)


def _may_swallow(item: WithItem) -> bool:
    return isinstance(item.context, Call) and last_name(item.context.func) in SWALLOWING


def _raised(statement: Raise) -> str | None:
    exc = statement.exc.func if isinstance(statement.exc, Call) else statement.exc
    return exc.id if isinstance(exc, Name) else None
