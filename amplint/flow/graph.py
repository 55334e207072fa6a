"""The control-flow graph of one function: basic blocks of steps in evaluation order, and the edges between them.

Knows Python's control flow, and refuses to know what any step means.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum

from amplint.model.data import Value
from amplint.model.tree import ClassDef, Comprehension, Expr, For, FunctionDef, Lambda, Module, Node, Parameter

Owner = FunctionDef | Lambda | Module | ClassDef
Loop = For | Comprehension
IsEntered = Callable[[Loop], bool]


class StepKind(StrEnum):
    """What happens at a step.

    call: the node, a Call, has been made; its arguments were evaluated by earlier steps.
    open, close: the same for a call whose callee's blocks stand in the graph between the two.
    bind: names or places got a value: assignments of every form, imports, definitions, `del`, the target of a loop,
    of a comprehension (node Generator), of a `with` item, of a handler, the captures of a match case.
    enter, leave, abort: a `with` item was entered, or left: by an exception, or by any other way.
    test: an expression was evaluated to decide a branch.
    return, raise, yield: the value was evaluated; the way out follows.
    """

    CALL = "call"
    OPEN = "open"
    CLOSE = "close"
    BIND = "bind"
    ENTER = "enter"
    LEAVE = "leave"
    ABORT = "abort"
    TEST = "test"
    RETURN = "return"
    RAISE = "raise"
    YIELD = "yield"

    # The one of enumerations is written in Python, and steps are looked up all the time.
    __hash__ = str.__hash__


class EdgeKind(StrEnum):
    """Why control takes an edge.

    branch: node is a test without `and`, `or`, `not` around it, is_true its answer.
    turn, exhausted: a `for` loop or comprehension takes another turn, or has none left.
    case: a match case was compared with the subject; is_true says that it fits.
    exception: some call of the block raised before it was done, so the states before the calls take this edge.
    caught: an exception goes to a handler (node ExceptHandler), or is swallowed by a context manager (node WithItem).
    """

    FLOW = "flow"
    BRANCH = "branch"
    TURN = "turn"
    EXHAUSTED = "exhausted"
    CASE = "case"
    EXCEPTION = "exception"
    CAUGHT = "caught"

    __hash__ = str.__hash__


class Step(Value, cache_hash=True):
    """One evaluated piece of program. frame counts the activation that it belongs to; 0 is the owner's own.

    opened is the frame between an `open` and its `close` step.
    """

    kind: StepKind
    node: Node
    frame: int = 0
    opened: int = -1


class Edge(Value):
    """A way from the end of a block (kind exception: from within it) to the start of another."""

    target: int
    kind: EdgeKind = EdgeKind.FLOW
    node: Node | None = None
    is_true: bool = True
    subject: Expr | None = None
    frame: int = 0

    def to(self, target: int) -> "Edge":
        """The same way to another block."""
        if target == self.target:
            return self
        return Edge(target, self.kind, self.node, self.is_true, self.subject, self.frame)


class Block(Value):
    """Steps that run one after the other, and where control goes from there."""

    steps: tuple[Step, ...]
    edges: tuple[Edge, ...]

    @property
    def raising(self) -> tuple[Edge, ...]:
        """The ways of exceptions."""
        return tuple([edge for edge in self.edges if edge.kind is EdgeKind.EXCEPTION])

    @property
    def may_raise(self) -> bool:
        """Whether a step in it may raise: any call may."""
        return any(step.kind is StepKind.CALL for step in self.steps)


def block_of(steps: tuple[Step, ...], edges: tuple[Edge, ...]) -> Block:
    """A block of some of the steps of another; without a call among them it has no way of exceptions."""
    block = Block(steps, edges)
    return block if block.may_raise else Block(steps, tuple([e for e in edges if e.kind is not EdgeKind.EXCEPTION]))


class Passing(Value):
    """What a parameter got in a call: an expression of the given frame, or None where it cannot be told."""

    parameter: Parameter
    value: Expr | None
    frame: int


class Frame(Value):
    """One activation of a function in a graph.

    call is the Call of the parent frame that opened it; both are None and -1 for the owner's own frame. module tells
    the globals of one file from those of another; '' is the owner's own file.
    """

    function: Owner
    call: Node | None = None
    parent: int = -1
    passed: tuple[Passing, ...] = ()
    module: str = ""


class Graph(Value):
    """The blocks of an owner. Block 0 is the entry; exit is reached by returning, raised by an uncaught `raise`."""

    blocks: tuple[Block, ...]
    exit: int
    raised: int
    frames: tuple[Frame, ...]

    @property
    def owner(self) -> Owner:
        """The function, class or module that the graph was built from."""
        return self.frames[0].function

    def steps(self) -> Iterator[tuple[int, int, Step]]:
        """All steps with their block and their place in it."""
        for number, block in enumerate(self.blocks):
            for place, step in enumerate(block.steps):
                yield number, place, step

    def edges(self) -> Iterator[tuple[int, Edge]]:
        """All edges with the block that they leave."""
        for number, block in enumerate(self.blocks):
            for edge in block.edges:
                yield number, edge

    def opened(self) -> dict[tuple[int, int], int]:
        """The frame of each call, by its identity and frame, that runs one function, whichever way control comes."""
        found: dict[tuple[int, int], int] = {}
        several: set[tuple[int, int]] = set()
        for number, frame in enumerate(self.frames):
            key = (id(frame.call), frame.parent)
            if key in found and self.frames[found[key]].function is not frame.function:
                several.add(key)
            found[key] = number
        return {key: number for key, number in found.items() if key not in several}


def receiver(function: Owner) -> str | None:
    """The name of the first parameter of a function, which in a method is the object itself."""
    parameters = function.parameters[:1] if isinstance(function, FunctionDef) else ()
    return next((parameter.name for parameter in parameters), None)
