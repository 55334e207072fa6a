"""A graph with the graphs of called functions in the place of their calls, so that paths go through them.

Knows how blocks are joined; which function a call means is the resolver's to say. Recursion and depth end in a plain
call.
"""

from collections import deque
from collections.abc import Callable

from msgspec.structs import replace

from amplint.flow.graph import Block, Edge, EdgeKind, Frame, Graph, IsEntered, Owner, Passing, Step, StepKind
from amplint.flow.statements import build, may_be_empty
from amplint.flow.tidy import tidy
from amplint.model.data import Value
from amplint.model.tree import Constant, Expr, FunctionDef, Lambda, Parameter

DEEPEST = 8
MOST_BLOCKS = 3000


class Callee(Value):
    """The function that a call runs, and what its parameters get: expressions of the calling frame.

    A parameter that is not listed gets its default, one that is listed with None something unknown. module names the
    file of the function where it is not the file of the graph's owner. captured: what the parameters of the function
    got that defined this one, where the callee is no longer in it.
    """

    function: FunctionDef | Lambda
    passed: tuple[tuple[str, Expr | None], ...] = ()
    module: str = ""
    captured: tuple[tuple[Parameter, Expr | None], ...] = ()


# Asked with a call step and the frames so far; the step's frame is one of them. None leaves the call a plain step.
Resolve = Callable[[Step, tuple[Frame, ...]], Callee | None]


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

    def expand_first(self, number: int) -> range:
        """Expand the first call of a block that can be; gives the new blocks, which may hold further calls."""
        for place, step in enumerate(self.blocks[number].steps):
            callee = self._callee(step)
            if callee is not None:
                return self._splice(number, place, callee)
        return range(0)

    def _callee(self, step: Step) -> Callee | None:
        if step.kind is not StepKind.CALL:
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
        return None if callee is None or callee.function in running else callee

    def _graph(self, function: Owner, is_guarded: bool) -> Graph:
        key = function, is_guarded
        if key not in self._built:
            self._built[key] = build(function, self._is_entered, is_guarded=is_guarded)
        return self._built[key]

    def _splice(self, number: int, place: int, callee: Callee) -> range:
        block = self.blocks[number]
        call = block.steps[place]
        raising = tuple(edge for edge in block.edges if edge.kind is EdgeKind.EXCEPTION)
        inner, first, frame = self._graph(callee.function, bool(raising)), len(self.blocks), len(self.frames)
        self.frames.append(Frame(callee.function, call.node, call.frame, _passed(callee, call.frame), callee.module))
        rest = first + len(inner.blocks)
        before = (*block.steps[:place], Step(StepKind.OPEN, call.node, call.frame, frame))
        self.blocks[number] = Block(before, (Edge(first), *(raising if _calls(before) else ())))
        for index, part in enumerate(inner.blocks):
            steps = tuple([Step(step.kind, step.node, frame, step.opened) for step in part.steps])
            edges = tuple([Edge(e.target + first, e.kind, e.node, e.is_true, e.subject, frame) for e in part.edges])
            if index == inner.exit:
                edges = (Edge(rest),)
            elif index == inner.raised:
                edges = tuple(replace(edge, kind=EdgeKind.CAUGHT) for edge in raising) or (Edge(self.raised),)
            self.blocks.append(Block(steps, edges))
        after = (Step(StepKind.CLOSE, call.node, call.frame, frame), *block.steps[place + 1 :])
        ways = block.edges if _calls(after) else tuple(e for e in block.edges if e.kind is not EdgeKind.EXCEPTION)
        self.blocks.append(Block(after, ways))
        return range(first, rest + 1)


def _passed(callee: Callee, frame: int) -> tuple[Passing, ...]:
    given = dict(callee.passed)
    own = (
        Passing(parameter, given.get(parameter.name, _constant_default(parameter)), frame)
        for parameter in callee.function.parameters
    )
    return (*own, *(Passing(parameter, value, frame) for parameter, value in callee.captured))


def _constant_default(parameter: Parameter) -> Expr | None:
    return parameter.default if isinstance(parameter.default, Constant) else None


def _calls(steps: tuple[Step, ...]) -> bool:
    return any(step.kind is StepKind.CALL for step in steps)
