"""The ways out of a statement: what `break`, `continue`, `return` and exceptions pass on their way.

Knows which handlers may catch what; draws the clean-up once for each kind of exit, so that no path leaves by an exit
that it did not enter by.
"""

import builtins
from collections.abc import Callable

from msgspec import Struct, field

from amplint.flow.graph import EdgeKind, Graph, Owner
from amplint.flow.sketch import Sketch
from amplint.model.tree import ExceptHandler, Expr, Name, Node, Tuple, WithItem


class LoopScope(Struct, eq=False):
    """Where `break` and `continue` lead."""

    after: int
    again: int


class CleanScope(Struct, eq=False):
    """Steps that every way out passes: a `finally` block, the exit of a context manager.

    draw is told whether an exception leaves; copies holds the block where the clean-up for one kind of exit starts.
    """

    draw: Callable[[bool], None]
    copies: dict[tuple[str, str | None], int] = field(default_factory=dict)


class CatchScope(Struct, eq=False):
    """Handlers, in order, with the blocks where they start; a WithItem stands for a manager that may swallow."""

    handlers: tuple[tuple[ExceptHandler | WithItem, int], ...]


Scope = LoopScope | CleanScope | CatchScope

# Exceptions that no call is known to have raised: any handler for Exception takes them, others may.
SOME_EXCEPTION = None


class Exits(Sketch):
    """The scopes around the current place, outermost first.

    is_guarded says that a caller handles exceptions, so that those of calls have a way out of the function.
    """

    def __init__(self, is_guarded: bool) -> None:
        super().__init__()
        self.is_guarded = is_guarded
        self.scopes: tuple[Scope, ...] = ()
        self._landings: dict[tuple[Scope, ...], int] = {}

    def finish(self, owner: Owner) -> Graph:
        """The graph; what draws clean-ups holds the drawing, and is let go of with it."""
        self._landings.clear()
        return super().finish(owner)

    def leave(self, kind: str, exception: str | None = SOME_EXCEPTION) -> None:
        """Draw the way out from the current block; kind is 'break', 'continue', 'return' or 'raise'."""
        scopes = self.scopes
        try:
            while self.current is not None and self.scopes:
                scope = self.scopes[-1]
                self.scopes = self.scopes[:-1]
                if isinstance(scope, CleanScope):
                    if not self._clean(scope, kind, exception):
                        return
                elif isinstance(scope, LoopScope):
                    if kind in ("break", "continue"):
                        self.jump(scope.after if kind == "break" else scope.again)
                elif kind == "raise" and self._catch(scope, exception):
                    self.current = None
            self.jump(self.exit if kind == "return" else self.raised)
        finally:
            self.scopes = scopes
            self.current = None

    def _clean(self, scope: CleanScope, kind: str, exception: str | None) -> bool:
        """Whether the way out has to be drawn on: it was not drawn for this kind of exit before."""
        key = (kind, exception)
        copy = scope.copies.get(key)
        if copy is not None:
            self.jump(copy)
            return False
        scope.copies[key] = copy = self.new()
        self.jump(copy)
        self.enter(copy)
        scope.draw(kind in ("raise", "implicit"))
        return True

    def _catch(self, scope: CatchScope, exception: str | None) -> bool:
        """Draw the edges to handlers; whether one of them surely catches."""
        for handler, block in scope.handlers:
            answer = may_catch(handler, exception)
            if answer is not False:
                self.connect(block, EdgeKind.CAUGHT, handler)
            if answer is True:
                return True
        return False

    def may_raise(self) -> None:
        """The current block makes a call: it has a way to the handlers around it, if there are any."""
        if self.current is None or not (self.is_guarded or any(isinstance(s, CatchScope) for s in self.scopes)):
            return
        edges = self.blocks[self.current].edges
        if not any(edge.kind is EdgeKind.EXCEPTION for edge in edges):
            self.connect(self._landing(), EdgeKind.EXCEPTION)

    def _landing(self) -> int:
        """The block where an exception of a call starts its way out of the scopes around the current place."""
        landing = self._landings.get(self.scopes)
        if landing is None:
            here, scopes = self.current, self.scopes
            self._landings[scopes] = landing = self.new()
            self.enter(landing)
            catching = [index for index, scope in enumerate(scopes) if isinstance(scope, CatchScope)]
            self._leave_within(0 if self.is_guarded else catching[0])
            self.current, self.scopes = here, scopes
        return landing

    def _leave_within(self, outermost: int) -> None:
        """Draw an exception's way out as far as the outermost handler; nobody asks what happens beyond."""
        while self.current is not None and len(self.scopes) > outermost:
            scope = self.scopes[-1]
            self.scopes = self.scopes[:-1]
            if isinstance(scope, CleanScope):
                if not self._clean(scope, "implicit", SOME_EXCEPTION):
                    return
            elif isinstance(scope, CatchScope) and self._catch(scope, SOME_EXCEPTION):
                return
        if self.is_guarded:
            self.jump(self.raised)


def may_catch(handler: ExceptHandler | WithItem, exception: str | None) -> bool | None:
    """Whether a handler catches an exception of a class by name; None where it depends on what is not known."""
    if isinstance(handler, WithItem):
        return None
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, Tuple) else (handler.type,)
    answers = [_is_caught_by(kind, exception) for kind in types]
    if True in answers:
        return True
    return None if None in answers else False


def _is_caught_by(kind: Expr, exception: str | None) -> bool | None:
    caught = _builtin_exception(kind)
    if caught is None:
        return None
    if exception is None:
        return True if issubclass(Exception, caught) else None
    raised = getattr(builtins, exception, None)
    if isinstance(raised, type) and issubclass(raised, BaseException):
        return issubclass(raised, caught)
    return True if issubclass(Exception, caught) else None


def _builtin_exception(node: Node) -> type[BaseException] | None:
    if isinstance(node, Name):
        found = getattr(builtins, node.id, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return None
