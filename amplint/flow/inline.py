"""A graph with the graphs of called functions in the place of their calls, so that paths go through them.

Knows how blocks are joined; which function a call means is the resolver's to say. Recursion and depth end in a plain
call.
"""

from collections import deque
from collections.abc import Callable

from msgspec.structs import replace

from amplint.flow.graph import Block, Edge, EdgeKind, Frame, Graph, IsEntered, Owner, Passing, Step, StepKind, block_of
from amplint.flow.managers import Halves, halves
from amplint.flow.statements import build, may_be_empty
from amplint.flow.tidy import tidy
from amplint.model.data import Value
from amplint.model.tree import Constant, Expr, FunctionDef, Lambda, Node, Parameter, WithItem

DEEPEST = 8
MOST_BLOCKS = 3000


class Callee(Value):
    """The function that a call runs, and what its parameters get: expressions of the calling frame.

    A parameter that is not listed gets its default, one that is listed with None something unknown. module names the
    file of the function where it is not the file of the graph's owner. captured: what the parameters of the function
    got that defined this one, where the callee is no longer in it; around evaluates that, -1 is the frame of the call.
    """

    function: FunctionDef | Lambda
    passed: tuple[tuple[str, Expr | None], ...] = ()
    module: str = ""
    captured: tuple[tuple[Parameter, Expr | None], ...] = ()
    around: int = -1


class Fork(Value):
    """A call of which a test decides which of two functions it runs, one of them perhaps not in sight.

    frame is that in which the test is evaluated.
    """

    test: Expr
    frame: int
    yes: "Callee | Fork | None"
    no: "Callee | Fork | None"

    @property
    def callees(self) -> tuple[Callee, ...]:
        """Everything in sight that the call may run."""
        found: list[Callee] = []
        for side in (self.yes, self.no):
            found += side.callees if isinstance(side, Fork) else (side,) if side is not None else ()
        return tuple(found)


class Ends(Value):
    """What an object runs that is a context manager, where it is entered and where it is left without an exception."""

    enter: Callee
    leave: Callee

    @property
    def callees(self) -> tuple[Callee, ...]:
        """Both."""
        return (self.enter, self.leave)


# Asked with a call step and the frames so far; the step's frame is one of them. None leaves the call a plain step.
Resolve = Callable[[Step, tuple[Frame, ...]], Callee | Fork | Ends | None]


def expand(graph: Graph, resolve: Resolve, *, is_entered: IsEntered = may_be_empty) -> Graph:
    """The graph in which every call that resolves to a function runs through the function's blocks.

    Such a call is an `open` step before them and a `close` step behind them. is_entered is that of `build`.
    """
    work = _Expansion(graph, resolve, is_entered)
    pending = deque(range(len(graph.blocks)))
    while pending and len(work.blocks) < MOST_BLOCKS:
        pending.extend(work.expand_first(pending.popleft()))
    return tidy(Graph(tuple(work.blocks), graph.exit, graph.raised, tuple(work.frames)))


class _Expansion:
    def __init__(self, graph: Graph, resolve: Resolve, is_entered: IsEntered) -> None:
        self.blocks = list(graph.blocks)
        self.frames = list(graph.frames)
        self._shown = tuple(graph.frames)
        self.raised = graph.raised
        self._resolve = resolve
        self._is_entered = is_entered
        self._built: dict[tuple[Owner, bool], Graph] = {}
        self._managers: dict[tuple[int, int], tuple[int, Halves | Ends] | None] = {}
        # What a call on one side of a fork runs, by its block: nobody asks again there.
        self._decided: dict[int, Callee | None] = {}

    def expand_first(self, number: int) -> range:
        """Expand the first call of a block that can be; gives the new blocks, which may hold further calls."""
        for place, step in enumerate(self.blocks[number].steps):
            if step.kind in (StepKind.ENTER, StepKind.LEAVE) and (manager := self._manager(step)) is not None:
                return self._pass(number, place, *manager)
            is_decided = place == 0 and number in self._decided
            callee = self._decided[number] if is_decided else self._callee(step)
            if isinstance(callee, Fork):
                return self._split(number, place, callee)
            if isinstance(callee, Callee):
                return self._splice(number, place, callee)
        return range(0)

    def _split(self, number: int, place: int, fork: Fork) -> range:
        """A way for each function that a call may run, each with the call as the first step of its block."""
        block, rest = self.blocks[number], len(self.blocks)
        self.blocks.append(block_of(block.steps[place + 1 :], block.edges))
        arms = self._arms(fork, block.steps[place], (Edge(rest), *block.raising))
        self.blocks[number] = block_of(block.steps[:place], (*arms, *block.raising))
        return range(rest, len(self.blocks))

    def _arms(self, fork: Fork, call: Step, onward: tuple[Edge, ...]) -> tuple[Edge, Edge]:
        targets: list[int] = []
        for side in (fork.yes, fork.no):
            targets.append(len(self.blocks))
            self.blocks.append(Block((), ()))
            if isinstance(side, Fork):
                self.blocks[targets[-1]] = Block((), self._arms(side, call, onward))
            else:
                self._decided[targets[-1]] = side
                self.blocks[targets[-1]] = Block((call,), onward)
        yes, no = targets
        return (
            Edge(yes, EdgeKind.BRANCH, fork.test, True, frame=fork.frame),
            Edge(no, EdgeKind.BRANCH, fork.test, False, frame=fork.frame),
        )

    def _callee(self, step: Step) -> Callee | Fork | Ends | None:
        if step.kind not in (StepKind.CALL, StepKind.ENTER):
            return None
        around, depth = step.frame, 0
        running: set[Owner] = set()
        while around >= 0:
            running.add(self.frames[around].function)
            around, depth = self.frames[around].parent, depth + 1
        if depth > DEEPEST:
            return None
        if len(self._shown) != len(self.frames):
            self._shown = tuple(self.frames)
        callee = self._resolve(step, self._shown)
        found = (callee,) if isinstance(callee, Callee) else callee.callees if callee is not None else ()
        return None if any(each.function in running for each in found) else callee

    def _graph(self, function: Owner, is_guarded: bool) -> Graph:
        key = function, is_guarded
        if key not in self._built:
            self._built[key] = build(function, self._is_entered, is_guarded=is_guarded)
        return self._built[key]

    def _manager(self, step: Step) -> tuple[int, Halves | Ends] | None:
        """What runs at both ends of a `with` item, and the first of its frames: a generator has one, an object two."""
        key = (id(step.node), step.frame)
        if key not in self._managers:
            self._managers[key] = None
            callee = self._callee(Step(StepKind.ENTER, step.node, step.frame))
            parts = halves(self._graph(callee.function, False)) if isinstance(callee, Callee) else None
            found = callee if isinstance(callee, Ends) else parts
            if found is not None and isinstance(step.node, WithItem):
                self._managers[key] = len(self.frames), found
                for each in callee.callees if isinstance(callee, Ends) else (callee,):
                    assert isinstance(each, Callee)
                    self._open(each, step.node.context, step.frame)
        return self._managers[key]

    def _pass(self, number: int, place: int, frame: int, parts: Halves | Ends) -> range:
        """One end of a manager, where it is entered or left."""
        step = self.blocks[number].steps[place]
        is_entry = step.kind is StepKind.ENTER
        if isinstance(parts, Ends):
            callee, frame = (parts.enter, frame) if is_entry else (parts.leave, frame + 1)
            ends = Step(StepKind.OPEN, step.node, step.frame, frame), Step(StepKind.CLOSE, step.node, step.frame, frame)
            return self._insert(number, place, self._graph(callee.function, False), 0, (step, ends[0]), ends[1:])
        context = self.frames[frame].call
        assert context is not None
        closing = (Step(StepKind.CLOSE, context, step.frame, frame),)
        if is_entry:
            opening = (step, Step(StepKind.OPEN, context, step.frame, frame))
            return self._insert(number, place, parts.first, 0, opening, closing)
        return self._insert(number, place, parts.second, parts.entry, (step,), closing, frame)

    def _open(self, callee: Callee, call: Node, frame: int) -> int:
        self.frames.append(Frame(callee.function, call, frame, _passed(callee, frame), callee.module))
        return len(self.frames) - 1

    def _splice(self, number: int, place: int, callee: Callee) -> range:
        call = self.blocks[number].steps[place]
        is_guarded = bool(self.blocks[number].raising)
        inner, frame = self._graph(callee.function, is_guarded), self._open(callee, call.node, call.frame)
        opening = (Step(StepKind.OPEN, call.node, call.frame, frame),)
        return self._insert(number, place, inner, 0, opening, (Step(StepKind.CLOSE, call.node, call.frame, frame),))

    def _insert(
        self,
        number: int,
        place: int,
        inner: Graph,
        entry: int,
        opening: tuple[Step, ...],
        closing: tuple[Step, ...],
        frame: int = -1,
    ) -> range:
        """The blocks of a graph, from one of them on, in the place of a step; frame is by default what is opened."""
        block, first = self.blocks[number], len(self.blocks)
        frame = frame if frame >= 0 else opening[-1].opened
        raising = block.raising
        rest = first + len(inner.blocks)
        self.blocks[number] = block_of((*block.steps[:place], *opening), (Edge(first + entry), *raising))
        for index, part in enumerate(inner.blocks):
            steps = tuple([Step(step.kind, step.node, frame, step.opened) for step in part.steps])
            edges = tuple([Edge(e.target + first, e.kind, e.node, e.is_true, e.subject, frame) for e in part.edges])
            if index == inner.exit:
                edges = (Edge(rest),)
            elif index == inner.raised:
                edges = tuple(replace(edge, kind=EdgeKind.CAUGHT) for edge in raising) or (Edge(self.raised),)
            self.blocks.append(Block(steps, edges))
        self.blocks.append(block_of((*closing, *block.steps[place + 1 :]), block.edges))
        return range(first, rest + 1)


def _passed(callee: Callee, frame: int) -> tuple[Passing, ...]:
    given = dict(callee.passed)
    own = (
        Passing(parameter, given.get(parameter.name, _constant_default(parameter)), frame)
        for parameter in callee.function.parameters
    )
    around = callee.around if callee.around >= 0 else frame
    return (*own, *(Passing(parameter, value, around) for parameter, value in callee.captured))


def _constant_default(parameter: Parameter) -> Expr | None:
    return parameter.default if isinstance(parameter.default, Constant) else None
