"""Under which conditions a step runs: the `if`s around it and the early exits before it, through calls to their root.

Knows which of them ask whether a group of micro-batches is complete; knows nothing of what the step does.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from amplint.facts.program.branches import leaves
from amplint.facts.program.callees import is_abstract
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.kept_answers import flag, kept_answer, part_of_divmod
from amplint.facts.protocol.scene import Scene
from amplint.flow.boundaries import Boundary, boundary
from amplint.flow.graph import Step
from amplint.flow.terms import sole_return
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    Call,
    Compare,
    Comprehension,
    Constant,
    Expr,
    For,
    FunctionDef,
    Generator,
    If,
    IfExp,
    Match,
    MatchCase,
    Module,
    Name,
    Node,
    Stmt,
    Unary,
    While,
)
from amplint.model.walks import blocks

MOST_HOPS = 6
# Comparisons of a length that say that it is one, and those that say that it is not.
ONE = frozenset({("==", 1), ("<=", 1), ("<", 2)})
MANY = frozenset({("!=", 1), (">", 1), (">=", 2)})


Answer = tuple[int, bool]


class Guard(Value):
    """A test that must give an answer for a step to run, in the frame that asks it."""

    test: Expr
    is_true: bool
    frame: int

    @property
    def answer(self) -> Answer:
        """The test, and what it has to say."""
        return id(self.test), self.is_true


class Guards(Struct):
    """The guards of a scene's steps, worked out once for each: every backward asks about every step."""

    scene: Scene
    _guards: dict[Step, tuple[Guard, ...]] = field(default_factory=dict)
    _boundaries: dict[Step, tuple[tuple[Guard, Boundary], ...]] = field(default_factory=dict)
    _asked: dict[Guard, Boundary | None] = field(default_factory=dict)

    def of(self, step: Step) -> tuple[Guard, ...]:
        """The guards of a step, those of its own function first, then those of the calls that lead to it."""
        if step not in self._guards:
            self._guards[step] = self._of(step)
        return self._guards[step]

    def answers(self, step: Step) -> frozenset[Answer]:
        """What the tests have to say that a step stands under."""
        return frozenset(guard.answer for guard in self.of(step))

    def _of(self, step: Step) -> tuple[Guard, ...]:
        found: list[Guard] = []
        node, number = step.node, step.frame
        while True:
            found.extend(self._within(node, number))
            frame = self.scene.frames[number]
            if frame.call is None:
                return tuple(found)
            node, number = frame.call, frame.parent

    def boundaries(self, step: Step) -> tuple[tuple[Guard, Boundary], ...]:
        """The guards of a step that let it run at group boundaries only."""
        if step not in self._boundaries:
            self._boundaries[step] = self._boundaries_of(self.of(step))
        return self._boundaries[step]

    def _boundaries_of(self, guards: tuple[Guard, ...]) -> tuple[tuple[Guard, Boundary], ...]:
        found = ((guard, self.boundary(guard)) for guard in guards)
        return tuple(
            (guard, asked)
            for guard, asked in found
            if asked is not None and asked.is_true is guard.is_true
            if not any(says_one(other, asked.period) for other in guards)
        )

    def boundary(self, guard: Guard) -> Boundary | None:
        """What a guard asks about groups of turns."""
        if guard not in self._asked:
            test, frame = self.asked(guard)
            function = self.scene.frames[frame].function
            self._asked[guard] = boundary(test, function, lambda expr: self.value(expr, frame))
        return self._asked[guard]

    def asked(self, guard: Guard) -> tuple[Expr, int]:
        """A guard's test, or the expression that the flag it asks was passed as, and the frame that says it."""
        return passed_as(self.scene, guard.test, guard.frame)

    def value(self, expr: Expr, frame: int) -> Expr | None:
        """What a name of a frame was assigned, where it was assigned once in its function or one around it.

        A call stands for what its function always returns, an attribute for what its class keeps there.
        """
        if isinstance(expr, Call):
            called = self.scene.callees.function(expr, frame, self.scene.frames)
            return sole_return(called[1]) if called is not None and not is_abstract(called[1]) else None
        if isinstance(expr, Attribute):
            return kept_answer(self.scene, expr, frame)
        if not isinstance(expr, Name):
            return None
        home = self.scene.homes[frame]
        try:
            bindings = home.names.lookup(expr.id, expr)
        except KeyError:
            return None
        values = [binding.value for binding in bindings if binding.value is not None]
        if len(bindings) == 1 and not values:
            return part_of_divmod(home.values.unpacked(bindings[0].node))
        if len(bindings) == 2 and len(values) == 2:
            return flag(values[0], values[1], home.index.parents)
        return values[0] if len(bindings) == 1 and values else None

    def _chosen(self, iterated: Expr, frame: int) -> Iterator[Guard]:
        """A loop over what a comprehension has chosen runs its body only where the choice was made."""
        iterated, frame = self.asked(Guard(iterated, True, frame))
        chosen = self.value(iterated, frame) or iterated
        for generator in chosen.generators if isinstance(chosen, Comprehension) else ():
            yield from (_guard(test, True, frame) for test in generator.ifs)

    def is_choice(self, guard: Guard) -> bool:
        """Whether a guard is the condition of a comprehension."""
        parents = self.scene.homes[guard.frame].index.parents
        around = parents.get(guard.test)
        while isinstance(around, Unary):
            around = parents.get(around)
        return isinstance(around, Generator)

    def is_chosen(self, loop: For, frame: int) -> bool:
        """Whether a loop goes through what some test about groups of turns has chosen, which may be nothing."""
        return any(self.boundary(guard) is not None for guard in self._chosen(loop.iter, frame))

    def _within(self, node: Node, frame: int) -> Iterator[Guard]:
        index = self.scene.homes[frame].index
        function = self.scene.frames[frame].function
        child = node
        for outer in index.ancestors(node):
            match outer:
                case If() if child in outer.body:
                    yield _guard(outer.test, True, frame)
                case If() if child in outer.orelse:
                    yield _guard(outer.test, False, frame)
                case IfExp() if child in (outer.body, outer.orelse):
                    yield _guard(outer.test, child is outer.body, frame)
                case For() if child in outer.body:
                    yield from self._chosen(outer.iter, frame)
                case MatchCase() if child in outer.body:
                    yield from _case(outer, index.parents[outer], frame)
                case _:
                    pass
            yield from _early_exits(child, outer, frame)
            if outer is function or isinstance(outer, FunctionDef | Module):
                return
            child = outer


def says_one(guard: Guard, period: Expr | None) -> bool:
    """Whether a guard lets nothing by but groups of one turn: `if steps > 1: …` lets them into its `else`."""
    if not isinstance(guard.test, Compare) or len(guard.test.ops) != 1 or not spelled(period):
        return False
    left, op, right = guard.test.left, guard.test.ops[0], guard.test.comparators[0]
    if not isinstance(right, Constant) or spelled(left) != spelled(period):
        return False
    return (op, right.value) in (ONE if guard.is_true else MANY)


def _guard(test: Expr, is_true: bool, frame: int) -> Guard:
    """A guard whose test is not negated: `not is_last` asks for `is_last`."""
    while isinstance(test, Unary) and test.op == "not":
        test, is_true = test.operand, not is_true
    return Guard(test, is_true, frame)


def _early_exits(child: Node, outer: Node, frame: int) -> Iterator[Guard]:
    """`if …: continue` earlier in the same block: what follows runs only where the test says no."""
    for block in blocks(outer):
        before = block[: block.index(child)] if isinstance(child, Stmt) and child in block else ()
        for statement in before:
            if isinstance(statement, If) and not statement.orelse and leaves(statement.body):
                yield _guard(statement.test, False, frame)


def _case(case: MatchCase, match: Node, frame: int) -> Iterator[Guard]:
    """`case 0` runs where the subject says no, what is behind it where the subject says yes."""
    assert isinstance(match, Match)
    before = match.cases[: match.cases.index(case)]
    if case.guard is None and _is_zero(case) and not before:
        yield _guard(match.subject, False, frame)
    elif any(each.guard is None and _is_zero(each) for each in before):
        yield _guard(match.subject, True, frame)


def _is_zero(case: MatchCase) -> bool:
    value = case.pattern.values[0] if len(case.pattern.values) == 1 and not case.pattern.captures else None
    return isinstance(value, Constant) and type(value.value) is int and value.value == 0


def common_loop(scene: Scene, one: Step, other: Step) -> For | While | None:
    """The innermost loop, in one frame, that runs both steps (themselves or the calls that lead to them)."""
    others = {step.frame: step for step in ways_up(scene, other)}
    for step in ways_up(scene, one):
        if step.frame in others:
            index = scene.homes[step.frame].index
            loops = set(map(id, index.loops(others[step.frame].node)))
            found = next((loop for loop in index.loops(step.node) if id(loop) in loops), None)
            if found is not None:
                return found
    return None


def is_above(scene: Scene, one: Step, other: Step) -> bool:
    """Whether a step (or the call that leads to it) stands above another in the innermost frame that runs both."""
    others = {step.frame: step for step in ways_up(scene, other)}
    shared = next((step for step in ways_up(scene, one) if step.frame in others), None)
    return shared is not None and shared.node.span < others[shared.frame].node.span


def loop_around(scene: Scene, step: Step) -> For | While | None:
    """The innermost loop that runs a step, in its own function or in one that leads to it."""
    for above in ways_up(scene, step):
        loop = next(iter(scene.homes[above.frame].index.loops(above.node)), None)
        if loop is not None:
            return loop
    return None


def ways_up(scene: Scene, step: Step) -> Iterator[Step]:
    """A step, and the calls that lead to it, innermost first."""
    current: Step | None = step
    while current is not None:
        yield current
        frame = scene.frames[current.frame]
        current = None if frame.call is None else Step(current.kind, frame.call, frame.parent)


def passed_as(scene: Scene, expr: Expr, frame: int) -> tuple[Expr, int]:
    """The expression that a parameter of a frame was passed as, and the frame that says it; anything else is itself."""
    for _ in range(MOST_HOPS):
        passed = next(
            (p for p in scene.frames[frame].passed if isinstance(expr, Name) and p.parameter.name == expr.id), None
        )
        if passed is None or passed.value is None or passed.value is passed.parameter.default:
            break
        expr, frame = passed.value, passed.frame
    return expr, frame
