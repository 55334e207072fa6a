"""Reads a scene along its paths: feeds the events of each step to the protocol, and keeps the errors it meets.

Knows which paths can happen (through `flow`); what an error means to people is for `defects.py` and the rules.
"""

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property

from msgspec.structs import replace

from amplint.facts.protocol.carriers import Carriers, takes_in
from amplint.facts.protocol.chosen_turns import choosing_loops
from amplint.facts.protocol.events import Events
from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.losses import Losses
from amplint.facts.protocol.meaning import Meaning
from amplint.facts.protocol.optimizer_loops import OptimizerLoops
from amplint.facts.protocol.private_scalers import nobody_scales
from amplint.facts.protocol.roles import ASKING, Roles
from amplint.facts.protocol.scene import Scene
from amplint.facts.protocol.standing import NO_RESULTS, Standing, start
from amplint.facts.protocol.ways import Ways
from amplint.flow.client import Client, Known
from amplint.flow.formulas import value as formula_value
from amplint.flow.graph import Edge, Step, StepKind
from amplint.flow.terms import OPAQUE, Term
from amplint.knowledge.automaton import Automaton
from amplint.knowledge.protocol import EventKind, Gradients, Reason
from amplint.knowledge.state import Error, Event, OptimizerState, State
from amplint.model.data import Value
from amplint.model.tree import Assign, Attribute, Call, Node, Return, Yield
from amplint.model.walks import last_name

UNSEEN: Term = ("name", "optimizer that is not seen", "")
# torch raises there too, but what led there is more likely a path that never happens.
MISPLACED = frozenset({Reason.CLIP_BEFORE_BACKWARD, Reason.CLIP_AFTER_STEP})
SILENT = frozenset({Reason.STEP_WITHOUT_GRADIENTS, Reason.SCALE_NOT_SET})


class Misstep(Value):
    """An error and the state in which it happened."""

    error: Error
    before: State

    @property
    def is_of_plain_gradients(self) -> bool:
        """Whether no scale was on the gradients that it is about."""
        return self.before.optimizer(self.error.optimizer).gradients is Gradients.PLAIN


class Reader(Client[Standing]):
    """The protocol over one scene. missteps collects the errors, each once for a site and what explains it.

    met tells which gradients a step may find, dropped which zero_grad threw away gradients on the way to a later step;
    updated are the calls of unscale_ whose gradients an update met, applied those whose gradients a step used; unset
    those at which no loss was scaled yet on some path, unscaled those that some path gets through.
    scaled_before tells of a call of scale whether what it scales carried that scale already, on some paths or on all.
    """

    unknown = Standing(State(), is_unknown=True)

    def __init__(self, scene: Scene, roles: Roles, events: Events) -> None:
        self.scene = scene
        self.roles = roles
        self.events = events
        self._carriers = Carriers(scene, frozenset(id(call) for step, call in scene.calls if _scales(events.of(step))))
        self.losses = Losses(scene, self._carriers, nobody_scales(roles))
        self.met: dict[tuple[Step, Hashable], set[Gradients]] = {}
        self.dropped: dict[tuple[Step, Step], OptimizerState] = {}
        self.updated: dict[Step, Term] = {}
        self.applied: set[Hashable] = set()
        self.scaled_before: dict[Step, set[bool]] = {}
        self.unset: dict[Step, Misstep] = {}
        self.unscaled: set[Step] = set()
        self.missteps: dict[tuple[Reason, Step, Hashable], Misstep] = {}
        self.optimizers = tuple(roles.optimizers) or (UNSEEN,)
        self._elements = frozenset(place for place, role in roles.optimizers.items() if role.is_element)
        sole = self.optimizers[0] if len(self.optimizers) == 1 and not self._elements else None
        self._meaning = Meaning(self.losses, events.owners, self.optimizers, sole)
        self._loops = OptimizerLoops(scene, self._elements)
        self._automaton = Automaton()
        self._switched_off: dict[int, Happening] = {}
        choosing = choosing_loops(scene, events) if self._elements else {}
        self._ways = Ways(roles, self._loops, events.sharing.updating, choosing, self._automaton)

    @cached_property
    def begin(self) -> Standing:
        """What is known before the root's first step: nothing, as a rule."""
        return start(self.optimizers, Gradients.CLEAN if self.losses.nobody_scales else Gradients.UNKNOWN)

    @cached_property
    def _lost(self) -> Standing:
        """Past the bound nothing is known, not even whether a loop over optimizers goes on: taken as another's turn."""
        return replace(self.begin, turns=frozenset((place, True, False) for place in self._elements))

    def is_concerned(self, step: Step) -> bool:
        """Whether a step does anything here; an assignment may hand a scaled loss on, or overwrite it."""
        if self.events.of(step):
            return True
        match step.kind:
            case StepKind.BIND if self._loops.next_turns(step.node, step.frame):
                return True
            case _:
                return self._carriers.is_concerned(step)

    def is_decided_by(self, node: Node, frame: int) -> bool:
        """Whether a test or the turns of a loop matter to the protocol."""
        return self._ways.is_decided_by(node, frame)

    def step(self, step: Step, state: Standing, known: Known) -> Iterable[Standing]:
        """The points after a step; none where torch raises."""
        if state.is_unknown:
            state = self._lost
        points = [state]
        for happening in self.events.of(step):
            points = [after for point in points for after in self._happen(happening, step, point, known)]
        match step.kind:
            case StepKind.BIND:
                return [new for point in points for new in self._bound(step, self.losses.assigned(step, point))]
            case StepKind.OPEN:
                return [self.losses.opened(step, point) for point in points]
            case StepKind.RETURN | StepKind.YIELD:
                return [self._returned(step, point) for point in points]
            case StepKind.CLOSE:
                return [self._closed(step, point) for point in points]
            case StepKind.CALL if takes_in(step):
                return [self.losses.taken_in(step, point) for point in points]
            case _:
                return points

    def may_raise(self, step: Step, state: Standing) -> bool:
        """Calls fail in the model, for lack of memory: what a handler does with a step half done is no plan."""
        return state.is_idle

    def asks(self, step: Step) -> bool:
        """A scaler that is switched by a condition does nothing where the condition is false."""
        return any(self.switches(happening.scaler) for happening in self.events.of(step))

    def heeds(self, edge: Edge) -> bool:
        """Tests that ask for what the protocol knows, and the ends of loops over optimizers."""
        return self._ways.heeds(edge)

    def edge(self, edge: Edge, state: Standing) -> Iterable[Standing]:
        """The point behind an edge, where it can be taken."""
        return self._ways.behind(edge, state)

    def _bound(self, step: Step, here: Standing) -> list[Standing]:
        """A new turn of a loop over optimizers: of the one that is followed, or of another."""
        points = [here]
        for place in self._loops.next_turns(step.node, step.frame):
            points = [new for point in points for new in self._turned(step, place, point)]
        return points

    def _turned(self, step: Step, place: Term, here: Standing) -> Iterator[Standing]:
        turn = here.turn(place)
        if isinstance(step.node, Assign) and not self._loops.is_keyed(step):
            turn = None
        has_had = turn is not None and turn[0]
        yield here.with_turn(place, (has_had, False))
        if not has_had:
            yield here.with_turn(place, (True, True))

    def _returned(self, step: Step, here: Standing) -> Standing:
        value = step.node.value if isinstance(step.node, Return | Yield) else step.node
        shares = self.losses.shares(value, step.frame, here) if value is not None else frozenset()
        if not shares and not here.results:
            return here
        return replace(here, results=frozenset((-step.frame - 1, share) for share in shares))

    def _closed(self, step: Step, here: Standing) -> Standing:
        if not here.results:
            return here
        renamed = frozenset((id(step.node) if key == -step.opened - 1 else key, share) for key, share in here.results)
        return replace(here, results=renamed)

    def _happen(self, happening: Happening, step: Step, here: Standing, known: Known) -> list[Standing]:
        if happening.scaler is not None and self.is_off(happening.scaler, known):
            happening = self._without_scaler(happening)
        if happening.kind is EventKind.SCALE and happening.scaler is not None:
            if isinstance(step.node, Call) and step.node.args:
                is_scaled = self.losses.carries(step.node.args[0].value, happening.scaler, step.frame, here)
                self.scaled_before.setdefault(step, set()).add(is_scaled)
            here = replace(here, results=here.results | {(id(step.node), (happening.scaler, True))})
        points = [here]
        for event in self._meaning.events(happening, step, here):
            points = [after for point in points for after in self._apply(event, step, point)]
        return points

    def _apply(self, event: Event, step: Step, here: Standing) -> Iterator[Standing]:
        element = self._element(event) if self._elements else None
        if event.optimizers is None and event.kind in (EventKind.CLIP, EventKind.READ):
            if here.turns and any(not turn[2] for turn in here.turns):
                yield here
                return
        elif element is not None and event.kind is not EventKind.FORGET:
            turn = here.turn(element)
            if turn is None or not turn[1]:
                # Outside of loops `optimizers[key]` is the one that is followed or another, and stays so.
                yield self._of_another(event, here.with_turn(element, turn or (False, False)))
                if turn is not None or element in self._loops.confused:
                    return
                here = here.with_turn(element, (False, True))
        after, errors = self._automaton.advance(here.protocol, event)
        self._look(event, step, here)
        for error in errors:
            if error.reason not in SILENT:
                self._remember(Misstep(error, here.protocol), step)
            elif event.kind is EventKind.UNSCALE:
                self.unset.setdefault(step, Misstep(error, here.protocol))
        if not any(error.is_crash for error in errors):
            if event.kind is EventKind.UNSCALE:
                self.unscaled.add(step)
            is_backward = event.kind in (EventKind.SCALED_BACKWARD, EventKind.PLAIN_BACKWARD)
            yield Standing(after, here.scaled, NO_RESULTS if is_backward else here.results, here.turns)

    def _element(self, event: Event) -> Term | None:
        """The first optimizer of an event that stands for the elements of a collection."""
        return next((place for place in event.optimizers or () if place in self._elements), None)

    def _remember(self, misstep: Misstep, step: Step) -> None:
        """Each error once, by the first path that meets it; one with scaled gradients tells more than one without."""
        key = (misstep.error.reason, step, misstep.error.optimizer)
        known = self.missteps.setdefault(key, misstep)
        if known.is_of_plain_gradients and not misstep.is_of_plain_gradients:
            self.missteps[key] = misstep

    def _look(self, event: Event, step: Step, here: Standing) -> None:
        """Remember what gradients a step can meet, and which optimizers lost gradients that no step had used."""
        is_step = event.kind is EventKind.STEP
        for key, optimizer in here.protocol.optimizers:
            if event.optimizers is None or key in event.optimizers:
                self.met.setdefault((step, key), set()).add(optimizer.gradients)
                if optimizer.gradients is Gradients.UNSCALED:
                    self._look_at_unscaled(event, optimizer)
                is_used = is_step and optimizer.gradients in (Gradients.SCALED, Gradients.UNSCALED)
                if is_used and isinstance(optimizer.dropped_site, Step):
                    self.dropped.setdefault((optimizer.dropped_site, step), optimizer)

    def _look_at_unscaled(self, event: Event, optimizer: OptimizerState) -> None:
        site, scaler = optimizer.unscale_site, event.scaler
        if event.kind is EventKind.UPDATE and scaler in optimizer.scalers:
            if isinstance(site, Step) and isinstance(scaler, tuple):
                self.updated.setdefault(site, scaler)
        elif event.kind not in (EventKind.CLIP, EventKind.READ, EventKind.UNSCALE, EventKind.ZERO):
            self.applied.add(site)

    @property
    def surely(self) -> tuple[Misstep, ...]:
        """The errors, without the clips in a wrong place that some path reaches with gradients to clip.

        Such a path is the usual one, the other an empty loop.
        """
        return tuple(
            misstep
            for (reason, step, optimizer), misstep in self.missteps.items()
            if reason not in MISPLACED or len(self.met[step, optimizer]) == 1
        )

    def _of_another(self, event: Event, here: Standing) -> Standing:
        """The same event on an optimizer of the collection that is not followed: it leaves an inf record."""
        if event.kind not in (EventKind.STEP, EventKind.UNSCALE):
            return here
        record = replace(here.protocol.scaler(event.scaler), has_record=True)
        return replace(here, protocol=here.protocol.with_scaler(event.scaler, record))

    def _without_scaler(self, happening: Happening) -> Happening:
        """What a call does where its scaler is disabled."""
        if id(happening) not in self._switched_off:
            self._switched_off[id(happening)] = happening.without_scaler()
        return self._switched_off[id(happening)]

    def switches(self, scaler: Term | None) -> tuple[Term, ...]:
        """What is false where a scaler is disabled, if it may be on some paths."""
        role = self.roles.scalers.get(scaler) if scaler is not None else None
        if scaler is None or role is None:
            return ()
        known = () if role.enabled in (None, OPAQUE) else (role.enabled,)
        return (*known, ("call", ("attr", scaler, ASKING), ())) if scaler in self._questioned else known

    @cached_property
    def _questioned(self) -> frozenset[Term]:
        """The scalers that the scene asks whether they are enabled."""
        asking = ((call.func, step.frame) for step, call in self.scene.calls if last_name(call.func) == ASKING)
        places = (self.scene.place(func.value, frame) for func, frame in asking if isinstance(func, Attribute))
        return frozenset(place for place in places if place is not None)

    def is_off(self, scaler: Term, known: Known) -> bool:
        """Whether the answers on this path say that a scaler is disabled."""
        switches = self.switches(scaler)
        if known.questions is None or not switches:
            return False
        answers = dict(zip(known.questions.asked, known.answers, strict=True))
        return any(formula_value(known.questions.normal.truth(switch), answers) is False for switch in switches)


def _scales(happenings: tuple[Happening, ...]) -> bool:
    return any(happening.kind is EventKind.SCALE for happening in happenings)
