"""The protocol's errors in one module: every root is read along its feasible paths, with what it calls in place.

Knows where a path starts and which reason is which defect's; how a finding is worded is for the rules.
"""

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.events import Events
from amplint.facts.protocol.first_answers import first_answers, with_first
from amplint.facts.protocol.gradients import Handling
from amplint.facts.protocol.guards import Guards, common_loop, loop_around, ways_up
from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.places import is_taken
from amplint.facts.protocol.reader import Misstep, Reader
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.roots import Root, roots, takes_a_turn
from amplint.facts.protocol.scale_by_hand import calculates_with_scale, hands_scale, may_apply_scale
from amplint.facts.protocol.scene import Scene
from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import explore
from amplint.flow.graph import Owner, Step
from amplint.flow.slim import slim
from amplint.knowledge.protocol import EventKind
from amplint.model.data import Entity
from amplint.model.tree import Attribute, Call, Compare, FunctionDef, Lambda, Module, Raise, Return

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST_STATES = 64
MOST_QUESTIONS = 6
# A condition matters where one of these hangs on it; None is a backward.
DECISIVE = frozenset(
    {None, EventKind.SCALE, EventKind.UNSCALE, EventKind.STEP, EventKind.DIRECT_STEP, EventKind.UPDATE, EventKind.ZERO}
)


class Reading(Entity, dict=True):
    """One root that was read: its scene, what is in it, and the missteps on its paths.

    questions are those whose answers its paths keep. is_given_up says that it has too many paths for a judgement.
    """

    root: Root
    scene: Scene
    roles: Roles
    events: Events
    reader: Reader
    questions: Questions
    is_given_up: bool

    @property
    def missteps(self) -> tuple[Misstep, ...]:
        """What is wrong on some feasible path."""
        return self.reader.surely

    @cached_property
    def guards(self) -> Guards:
        """Under which conditions its steps run."""
        return Guards(self.scene)

    def spelled_scaler(self, scaler: Hashable, near: Step) -> str:
        """How the function of a step writes a scaler, '' where it has no name for it."""
        is_element = isinstance(scaler, tuple) and is_taken(scaler)
        for step in self.steps_of(EventKind.SCALE, EventKind.STEP, EventKind.UNSCALE, EventKind.UPDATE, scaler=scaler):
            if not self.are_together(step, near) or (is_element and not self._is_of_the_same_turn(step, near)):
                continue
            func = self.scene.said(step.node, step.frame).func if isinstance(step.node, Call) else None
            if isinstance(func, Attribute):
                return spelled(func.value)
        return self.scene.spelled(scaler, near.frame) if isinstance(scaler, tuple) and not is_element else ""

    def _is_of_the_same_turn(self, step: Step, near: Step) -> bool:
        """Whether another step stands in the innermost loop around a step, where the name of an element means it."""
        return common_loop(self.scene, step, near) is loop_around(self.scene, step)

    def spelled_optimizer(self, optimizer: Hashable, near: Step) -> str:
        """How the function of a step writes an optimizer, '' where it has no name for it."""
        for step in self.steps_of(EventKind.STEP, EventKind.UNSCALE, EventKind.DIRECT_STEP, EventKind.ZERO):
            if not self.are_together(step, near) or not isinstance(step.node, Call):
                continue
            call = self.scene.said(step.node, step.frame)
            for happening in self.events.of(step):
                if happening.optimizers != (optimizer,):
                    continue
                is_scalers = happening.kind in (EventKind.STEP, EventKind.UNSCALE)
                func = call.func
                expr = call.args[0].value if is_scalers else func.value if isinstance(func, Attribute) else None
                if expr is not None and self.scene.place(expr, step.frame) == optimizer:
                    return spelled(expr)
        return self.scene.spelled(optimizer, near.frame) if isinstance(optimizer, tuple) else ""

    def considers_scale(self, site: Step) -> bool:
        """Whether a step takes the scale into account: its function calculates with it, or was handed it."""
        return self._is_asked(site, calculates_with_scale)

    def may_apply_scale(self, site: Step) -> bool:
        """Whether a step may be of gradients that were divided by hand, or within a limit that was multiplied."""
        return self._is_asked(site, may_apply_scale)

    def _is_asked(self, site: Step, asked: "Callable[[Facts, FunctionDef | Lambda | Module], bool]") -> bool:
        home = self.scene.homes[site.frame]
        if asked(home, home.index.function(site.node) or home.module):
            return True
        for step in ways_up(self.scene, site):
            caller = self.scene.homes[step.frame]
            function = caller.index.function(step.node) or caller.module
            if step != site and isinstance(step.node, Call) and hands_scale(caller, function, step.node):
                return True
        return False

    @cached_property
    def sets_gradients(self) -> bool:
        """Whether gradients come from elsewhere than a backward: something is assigned to `.grad`."""
        happenings = (h for _, _, step in self.scene.graph.steps() for h in self.events.of(step))
        return any(happening.handling is Handling.SET for happening in happenings)

    def are_together(self, one: Step, other: Step) -> bool:
        """Whether two steps stand in the same function."""
        frames = self.scene.frames
        return frames[one.frame].function is frames[other.frame].function

    def steps_of(self, *kinds: EventKind | None, scaler: Hashable = None) -> Iterator[Step]:
        """The steps with events of some kinds, of a scaler if one is given; None is a backward."""
        for step, happening in self._happenings:
            if happening.kind in kinds and scaler in (None, happening.scaler):
                yield step

    @cached_property
    def _happenings(self) -> tuple[tuple[Step, Happening], ...]:
        """What the calls of the scene do, in their order."""
        return tuple((step, happening) for step, _ in self.scene.calls for happening in self.events.of(step))


def readings(facts: "Facts") -> Iterator[Reading]:
    """All roots of a module that have something to read."""
    covered: set[Owner] = set()
    for root in roots(facts, lambda: covered):
        scene = Scene(root.home, root.function, root.klass, _is_wanted, takes_a_turn)
        is_new = root.home.concerns.is_direct(root.function) or not covered.issuperset(scene.callees.homes)
        covered.update(scene.callees.homes)
        found = read(root, scene) if is_new else None
        if found is not None:
            yield found


def read(root: Root, scene: Scene) -> Reading | None:
    """One root, None where it has neither a scaler nor an optimizer that steps."""
    roles = Roles(scene)
    events = Events(scene, roles)
    if not roles.scalers and not (roles.optimizers and events.has_step):
        return None
    reader = Reader(scene, roles, events)
    questions = Questions(
        scene.graph, lambda step: any(h.kind in DECISIVE for h in events.of(step)), MOST_QUESTIONS, scene.terms
    )
    graph = slim(questions, reader.is_concerned, reader.is_decided_by)
    given = questions.either_way(switch for scaler in roles.scalers for switch in reader.switches(scaler))
    first = first_answers(scene, questions)
    is_given_up = False
    # With the flags of a new object; then with any, where who calls the root again finds them otherwise.
    for begins in ([with_first(each, first) for each in given], given):
        flow = explore(graph, reader, [reader.begin], questions, MOST_STATES, begins)
        is_given_up = is_given_up or flow.is_given_up
        ends = flow.arrivals(graph.exit)
        if all(end.answers[index] is said for end in ends for index, said in first.items()):
            break
    return Reading(root, scene, roles, events, reader, questions, is_given_up)


def _is_wanted(home: "Facts", function: FunctionDef | Lambda) -> bool:
    """What has to do with a step, what never returns, and what only answers, as `exists(scaler)` does.

    Nothing runs behind a call of `abort`. What stands under a decorator may be one case of several, as with
    `singledispatch`.
    """
    if isinstance(function, Lambda):
        return home.concerns.has(function)
    last = function.body[-1] if function.body and not function.decorators else None
    answers = isinstance(last, Return) and isinstance(last.value, Compare) and len(function.body) == 1
    return isinstance(last, Raise) or answers or home.concerns.has(function)
