"""Which defect each misstep of a module is: one kind, one place, the places that explain it; duplicates are merged.

Says what is wrong and where; severity, wording and repair are the rules'.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.protocol.beside import beside, follows, guarded_step, is_boundary_missing, next_unscale
from amplint.facts.protocol.clip_places import BACKWARDS, is_told_of_backwards
from amplint.facts.protocol.defect import Defect, DefectKind, unexplained
from amplint.facts.protocol.doubt import is_doubtful
from amplint.facts.protocol.elsewhere import is_done_elsewhere
from amplint.facts.protocol.forgotten import forgotten
from amplint.facts.protocol.gradients import Handling
from amplint.facts.protocol.guards import common_loop, loop_around, ways_up
from amplint.facts.protocol.left_out import clipped, premature, unapplied, unended, unscaled
from amplint.facts.protocol.next_round import met_by_next_round
from amplint.facts.protocol.reader import Misstep
from amplint.facts.protocol.readings import Reading
from amplint.facts.protocol.scaler_steps import closure_of
from amplint.facts.protocol.told import is_told, is_waited_for
from amplint.facts.protocol.unnoticed import unnoticed
from amplint.flow.graph import Step
from amplint.knowledge.protocol import CONSEQUENCES, EventKind, Gradients, Reason
from amplint.knowledge.state import Error
from amplint.model.tree import Attribute, Call, Constant, For, Name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


# What was stepped without its scaler: by itself, or with another one.
AROUND = frozenset({Reason.STEP_AROUND, Reason.STEP_AROUND_UNSCALED, Reason.OTHER_SCALER})
# After these a path goes on in a state that no reader of the program would expect, and meets further errors.
EXPLAINING = frozenset({Reason.UPDATE_BEFORE_STEP, Reason.UPDATE_AMONG_BACKWARDS, Reason.UNSCALE_AMONG_BACKWARDS})


class Defects(Struct):
    """The defects of one module's roots."""

    facts: "Facts"
    found: dict[DefectKind, list[Defect]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: set[tuple[DefectKind, str, object]] = set()
        for reading in self.facts.protocol:
            for defect in _Judge(reading).defects():
                key = (defect.kind, defect.home.path, defect.place.span)
                if key not in seen:
                    seen.add(key)
                    self.found.setdefault(defect.kind, []).append(defect)

    def of(self, kind: DefectKind) -> list[Defect]:
        """The defects of one kind."""
        return self.found.get(kind, [])


class _Judge:
    """Says of each misstep of one reading which defect it is."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.scene = reading.scene
        self.missteps = (*reading.missteps, *met_by_next_round(reading))
        self.reasons = {misstep.error.reason for misstep in self.missteps}

    def defects(self) -> Iterator[Defect]:
        moot = {
            (misstep.error.optimizer, reason)
            for misstep in self.missteps
            if misstep.error.reason in EXPLAINING
            for reason in CONSEQUENCES[misstep.error.reason].moot - EXPLAINING
        }
        missteps = (m for m in self.missteps if (m.error.optimizer, m.error.reason) not in moot)
        found = [self._defect(misstep) for misstep in missteps if not is_doubtful(self.reading, misstep)]
        found += [self._at(DefectKind.MICRO_UNSCALE, *early, ()) for early in premature(self.reading)]
        known = [defect for defect in found if defect is not None]
        yield from unexplained(known)
        yield from unnoticed(self.reading)
        yield from self._left_out({defect.error.reason for defect in known if defect.error is not None})

    def _left_out(self, known: set[Reason]) -> Iterator[Defect]:
        """What no path does, where no path fails for it."""
        if Reason.UPDATE_WITHOUT_RECORD not in known:
            found = dict.fromkeys(forgotten(self.reading))
            if self.reasons.isdisjoint(AROUND | EXPLAINING):
                found.update(dict.fromkeys(unapplied(self.reading)))
            yield from (Defect(DefectKind.NEVER_STEPPED, self.reading, step) for step in found)
        if self.reasons.isdisjoint({Reason.NO_UPDATE, Reason.UNSCALE_AFTER_STEP}):
            yield from (Defect(DefectKind.NO_UPDATE, self.reading, step) for step in unended(self.reading))
        for backward, step in unscaled(self.reading) if Reason.UNSCALED_BACKWARD not in known else ():
            yield Defect(DefectKind.UNSCALED_BACKWARD, self.reading, backward, after=step)
        for clip, step in clipped(self.reading) if Reason.CLIP_SCALED not in known else ():
            yield Defect(DefectKind.CLIP_SCALED, self.reading, self.shown(clip), after=step)

    def _defect(self, misstep: Misstep) -> Defect | None:
        error = misstep.error
        site = error.site
        assert isinstance(site, Step)
        because = tuple((kind, step) for kind, step in error.because if isinstance(step, Step))
        match error.reason:
            case Reason.CLIP_SCALED | Reason.READ_SCALED:
                return self._look(site, error, because)
            case Reason.CLIP_PARTLY_SCALED:
                return self._at(DefectKind.OTHER_SCALER, self.shown(site), error, because)
            case Reason.CLIP_BEFORE_BACKWARD | Reason.CLIP_AFTER_STEP:
                if self.reading.sets_gradients or not is_told_of_backwards(self.reading, site, because):
                    return None
                return self._at(DefectKind.CLIP_OUTSIDE, self.shown(site), error, because)
            case Reason.NO_UPDATE:
                return self._no_update(misstep, because)
            case Reason.UNSCALE_AFTER_STEP:
                is_next = misstep.before.optimizer(error.optimizer).gradients is not Gradients.SPENT
                if is_next:
                    return self._no_update(misstep, because)
                return self._at(DefectKind.REPEATED_UNSCALE, site, error, because)
            case Reason.UNSCALE_TWICE:
                return self._unscaled_twice(misstep, because)
            case Reason.UPDATE_WITHOUT_RECORD:
                # What looked for infs in gradients that are not there met some on other paths.
                if misstep.before.scaler(error.scaler).stages:
                    return None
                return self._update_without_record(error, because)
            case _:
                return self._mixed(misstep, because)

    def _mixed(self, misstep: Misstep, because: tuple[tuple[EventKind, Step], ...]) -> Defect | None:
        error, site = misstep.error, misstep.error.site
        assert isinstance(site, Step)
        optimizer = misstep.before.optimizer(error.optimizer)
        match error.reason:
            case Reason.UPDATE_BEFORE_STEP | Reason.UPDATE_AMONG_BACKWARDS:
                update = misstep.before.scaler(error.scaler).update_site
                cause = update if isinstance(update, Step) else site
                if self._sets_scale(cause):
                    return None
                is_micro = error.reason is Reason.UPDATE_AMONG_BACKWARDS or is_boundary_missing(self.reading, cause)
                kind = DefectKind.MICRO_UPDATE if is_micro else DefectKind.MISPLACED_UPDATE
                return self._at(kind, cause, error, because, after=site)
            case Reason.STEP_AROUND | Reason.STEP_AROUND_UNSCALED:
                if self.reading.may_apply_scale(site):
                    return None
                return self._at(DefectKind.STEP_AROUND, site, error, because)
            case Reason.UNSCALED_BACKWARD:
                cause = optimizer.cause_site if isinstance(optimizer.cause_site, Step) else site
                backwards = [step for kind, step in because if kind in BACKWARDS]
                backward = cause if _is_backward(cause) else (backwards or [site])[0]
                return self._at(DefectKind.UNSCALED_BACKWARD, backward, error, because, after=site)
            case Reason.UNSCALE_AMONG_BACKWARDS:
                unscaled = [step for kind, step in because if kind is EventKind.UNSCALE]
                # What unscaled nothing leaves no trace in the gradients.
                before = [
                    step for step in beside(self.reading, site, EventKind.UNSCALE) if step.node.span < site.node.span
                ]
                cause = (unscaled or before[-1:] or [site])[0]
                return self._at(DefectKind.MICRO_UNSCALE, cause, error, because, after=site)
            case Reason.DIVIDED_TWICE:
                return self._at(DefectKind.REPEATED_UNSCALE, site, error, because)
            case Reason.OTHER_SCALER:
                return self._at(DefectKind.OTHER_SCALER, site, error, because)
            case Reason.ZERO_BEFORE_STEP:
                # Where the step finds gradients on other paths, the zero_grad is some earlier round's.
                met = self.reading.reader.met.get((site, error.optimizer), set())
                if met & {Gradients.SCALED, Gradients.UNSCALED, Gradients.PLAIN}:
                    return None
                zeros = [step for kind, step in because if kind is EventKind.ZERO]
                return self._at(DefectKind.ZERO_BEFORE_STEP, (zeros or [site])[0], error, because, after=site)
            case _:
                return None

    def _sets_scale(self, update: Step) -> bool:
        """Whether an update gives the scale a value, now and then: no part of the rounds."""
        return any(happening.kind is EventKind.SET_SCALE for happening in self.reading.events.of(update))

    def _at(
        self,
        kind: DefectKind,
        site: Step,
        error: Error | None,
        because: tuple[tuple[EventKind, Step], ...],
        after: Step | None = None,
    ) -> Defect:
        others = tuple((k, step) for k, step in because if step != site)
        return Defect(kind, self.reading, site, error, others, after if after != site else None)

    def _look(self, site: Step, error: Error, because: tuple[tuple[EventKind, Step], ...]) -> Defect | None:
        handlings = {happening.handling for happening in self.reading.events.of(site)}
        kind = DefectKind.CLIP_SCALED if Handling.CLIP in handlings else DefectKind.READ_SCALED
        is_clip = kind is DefectKind.CLIP_SCALED
        if self.reading.may_apply_scale(site) if is_clip else self.reading.considers_scale(site):
            return None
        shown = self.shown(site)
        return self._at(kind, shown, error, because, after=next_unscale(self.reading, shown))

    def _no_update(self, misstep: Misstep, because: tuple[tuple[EventKind, Step], ...]) -> Defect | None:
        steps = [step for kind, step in because if kind is EventKind.STEP]
        site = misstep.error.site
        assert isinstance(site, Step)
        step = (steps or [site])[0]
        if closure_of(self.scene.homes[step.frame], step.node) is not None or self._takes_one_turn(step, site):
            return None
        if is_waited_for(self.reading, step):
            return None
        return self._at(DefectKind.NO_UPDATE, step, misstep.error, because, after=site)

    def _takes_one_turn(self, step: Step, site: Step) -> bool:
        """Whether only a loop of one turn, as `for _ in range(TURNS)` may be, leads from a step back to a site."""
        loop = common_loop(self.scene, step, site)
        updates = self.reading.steps_of(EventKind.UPDATE)
        if not isinstance(loop, For) or loop is not loop_around(self.scene, step) or not any(updates):
            return False
        match loop.iter:
            case Call(func=Name(id="range"), args=(argument,)):
                turns = self.reading.guards.value(argument.value, step.frame) or argument.value
                return isinstance(turns, Constant) and turns.value == 1
            case _:
                return False

    def _unscaled_twice(self, misstep: Misstep, because: tuple[tuple[EventKind, Step], ...]) -> Defect | None:
        if misstep.is_of_plain_gradients:  # A path without the scaler's backward is one without the scaler.
            return None
        error, site = misstep.error, misstep.error.site
        assert isinstance(site, Step)
        first = next((step for kind, step in because if kind is EventKind.UNSCALE), site)
        gradients = misstep.before.optimizer(error.optimizer).gradients
        if first != site and (gradients is Gradients.UNSCALED or follows(self.reading, first, site)):
            return self._at(DefectKind.REPEATED_UNSCALE, site, error, because)
        if is_boundary_missing(self.reading, first):
            return self._at(DefectKind.MICRO_UNSCALE, first, error, because)
        skipped = guarded_step(self.reading, first)
        if skipped is None and gradients is Gradients.SCALED and any(kind is EventKind.ZERO for kind, _ in because):
            skipped = next_unscale(self.reading, first)  # given up somewhere on the way there
        kind = DefectKind.SKIPPED_STEP if skipped is not None else DefectKind.REPEATED_UNSCALE
        if kind is DefectKind.REPEATED_UNSCALE and gradients is not Gradients.UNSCALED:
            kind = DefectKind.MICRO_UNSCALE
        return self._at(kind, first, error, because, after=skipped)

    def _update_without_record(self, error: Error, because: tuple[tuple[EventKind, Step], ...]) -> Defect | None:
        site = error.site
        assert isinstance(site, Step)
        if not self.reasons.isdisjoint(AROUND):
            return None
        if any(is_told(self.reading, site, step) for step in self.reading.steps_of(EventKind.STEP)):
            return None
        if is_boundary_missing(self.reading, site):
            return self._at(DefectKind.MICRO_UPDATE, site, error, because)
        # A hook that the backward pass runs may step each parameter at once.
        if isinstance(error.scaler, tuple) and is_done_elsewhere(self.reading, error.scaler, "step"):
            return None
        is_stepped = any(self.reading.steps_of(EventKind.STEP, scaler=error.scaler))
        kind = DefectKind.MISPLACED_UPDATE if is_stepped else DefectKind.NEVER_STEPPED
        return self._at(kind, site, error, because)

    def shown(self, site: Step) -> Step:
        """The call to show for what a helper does to gradients: the one in a function that deals with the scaler."""
        for step in ways_up(self.scene, site):
            if self._deals_with_scaler(step.frame):
                return step
        return site

    def _deals_with_scaler(self, frame: int) -> bool:
        function = self.scene.frames[frame].function
        return any(
            self.scene.frames[step.frame].function is function
            for step in self.reading.steps_of(
                None, EventKind.SCALE, EventKind.STEP, EventKind.UNSCALE, EventKind.UPDATE
            )
        )


def _is_backward(step: Step) -> bool:
    func = step.node.func if isinstance(step.node, Call) else None
    return isinstance(func, Attribute) and func.attr == "backward"
