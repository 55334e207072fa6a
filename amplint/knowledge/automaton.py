"""Runs the rows of the protocol over a state: `advance(state, event)` gives the next state and the errors.

One reader for whoever has events: a recorded run, where everything is known, or a program's paths, where a step may be
seen without the backward before it. Knows nothing of where events come from.
"""

from collections.abc import Hashable, Iterable

from msgspec.structs import replace

from amplint.knowledge.protocol import (
    CERTAIN_ENOUGH,
    CONSEQUENCES,
    GRADIENTS,
    RENEWED_WHEN_UNCERTAIN,
    STAGES,
    EventKind,
    GradientMove,
    Gradients,
    Reason,
    Stage,
)
from amplint.knowledge.state import NEW_SCALER, UNSEEN_OPTIMIZER, Error, Event, OptimizerState, ScalerState, State

# No gradient is there for unscale_ and step to look at; an unscale_ before the zero_grad has looked already.
_ABSENT = frozenset({Gradients.CLEAN, Gradients.DROPPED})
_NEEDING_GRADIENTS = frozenset({Reason.STEP_WITHOUT_GRADIENTS, Reason.ZERO_BEFORE_STEP})


_OF_GRADIENTS_ALONE = frozenset(
    {EventKind.SCALED_BACKWARD, EventKind.PLAIN_BACKWARD, EventKind.DIRECT_STEP, EventKind.ZERO}
)

Errors = tuple[Error, ...]
# An optimizer's key and its state.
Pair = tuple[Hashable, OptimizerState]


def advance(state: State, event: Event) -> tuple[State, Errors]:
    """The state after an event, and what was wrong with it."""
    return Automaton().advance(state, event)


class Automaton:
    """The protocol, with a memory of what an event did to an optimizer.

    Of many optimizers each is in one of a few states, but all of them together are in any combination.
    """

    def __init__(self) -> None:
        self._moves: dict[Event, dict[Pair, tuple[Pair, Errors]]] = {}

    def advance(self, state: State, event: Event) -> tuple[State, Errors]:
        """The state after an event, and what was wrong with it."""
        if event.kind in _OF_GRADIENTS_ALONE:
            return self._each(state, event)
        match event.kind:
            case EventKind.CREATE:
                return state.with_scaler(event.scaler, NEW_SCALER), ()
            case EventKind.SCALE:
                return state.with_scaler(event.scaler, replace(state.scaler(event.scaler), is_set=True)), ()
            case EventKind.UPDATE | EventKind.SET_SCALE:
                return _update(state, event)
            case EventKind.UNSCALE | EventKind.STEP:
                return _staged(state, event)
            case EventKind.FORGET if event.scaler is not None:
                return state.with_scaler(event.scaler, ScalerState()), ()
            case EventKind.CLIP | EventKind.READ if not event.is_certain:
                return state, _uncertain_look(state, event)
            case _:
                return self._each(state, event)

    def _each(self, state: State, event: Event) -> tuple[State, Errors]:
        """An event that reaches gradients alone."""
        moves = self._moves.setdefault(event, {})
        pairs = list(state.optimizers)
        found: Errors = ()
        for at in _places(pairs, event):
            pair = pairs[at]
            move = moves.get(pair)
            if move is None:
                new, errors = _gradients(pair[1], event, pair[0])
                move = moves[pair] = pair if new == pair[1] else (pair[0], new), errors
            pairs[at] = move[0]
            found += move[1]
        if found:
            found = _partly(found, state, event)
        after = tuple(pairs)
        return state if after == state.optimizers else State(state.scalers, after), found


def _places(pairs: list[Pair], event: Event) -> Iterable[int]:
    """Where in the list the optimizers of an event stand; those that were not seen before are added."""
    if event.optimizers is None:
        return range(len(pairs))
    keys = [key for key, _ in pairs]
    unseen = [key for key in event.optimizers if key not in keys]
    if unseen:
        pairs += [(key, UNSEEN_OPTIMIZER) for key in dict.fromkeys(unseen)]
        pairs.sort(key=lambda pair: repr(pair[0]))
        keys = [key for key, _ in pairs]
    return map(keys.index, event.optimizers)


def _partly(errors: Errors, state: State, event: Event) -> Errors:
    """A clip that also meets gradients which were unscaled takes one norm over both."""
    if all(state.optimizer(key).gradients is not Gradients.UNSCALED for key in _named(state, event)):
        return errors
    return tuple(
        replace(error, reason=Reason.CLIP_PARTLY_SCALED) if error.reason is Reason.CLIP_SCALED else error
        for error in errors
    )


def _named(state: State, event: Event) -> tuple[Hashable, ...]:
    return tuple(key for key, _ in state.optimizers) if event.optimizers is None else event.optimizers


def _uncertain_look(state: State, event: Event) -> tuple[Error, ...]:
    """A clip or a read of nobody knows whose gradients is wrong only if it is wrong for every optimizer."""
    looks = [_gradients(state.optimizer(key), replace(event, is_certain=True), key)[1] for key in _named(state, event)]
    return looks[0] if looks and all(looks) and len({look[0].reason for look in looks}) == 1 else ()


def _staged(state: State, event: Event) -> tuple[State, tuple[Error, ...]]:
    """unscale_ and step: the scaler's record of the optimizer decides whether they are allowed at all."""
    found: list[Error] = []
    for key in _named(state, event):
        record, before = state.scaler(event.scaler), state.optimizer(key)
        move = STAGES[event.kind, record.stage(key)]
        if record.is_set is False:
            found.append(replace(_error(_unset(before), event, key, before), is_crash=True))
            continue
        if move.error is not None:
            found.append(_error(move.error, event, key, before))
            continue
        is_divided = record.stage(key) is Stage.UNSCALED
        after, errors = _gradients(before, event, key, is_divided)
        has_no_record = before.unscale_site is None and (is_divided or before.gradients in _ABSENT)
        is_crash = event.kind is EventKind.STEP and has_no_record
        found.extend(replace(error, is_crash=is_crash) for error in errors)
        if is_crash:
            continue
        has_record = record.has_record if before.gradients in _ABSENT else True
        state = state.with_optimizer(key, after)
        state = state.with_scaler(event.scaler, replace(record.with_stage(key, move.stage), has_record=has_record))
    return state, tuple(found)


def _unset(before: OptimizerState) -> Reason:
    """Why a scaler that has scaled nothing meets an optimizer."""
    if before.gradients is Gradients.SCALED:
        return Reason.OTHER_SCALER
    is_explained = before.gradients is Gradients.PLAIN or _has_run_backward(before)
    return Reason.UNSCALED_BACKWARD if is_explained else Reason.SCALE_NOT_SET


def _has_run_backward(before: OptimizerState) -> bool:
    """Whether some backward was seen that may be this optimizer's, whatever its gradients were before."""
    return before.gradients is Gradients.UNKNOWN and before.backward_site is not None


def _update(state: State, event: Event) -> tuple[State, tuple[Error, ...]]:
    record = state.scaler(event.scaler)
    if record.is_set is False:
        return state, (Error(Reason.SCALE_NOT_SET, event.site, event.scaler, None, is_crash=True),)
    if event.kind is EventKind.UPDATE and record.has_record is False:
        seen = ((EventKind.UPDATE, record.update_site),) if record.update_site is not None else ()
        return state, (Error(Reason.UPDATE_WITHOUT_RECORD, event.site, event.scaler, None, seen, is_crash=True),)
    for key, before in state.optimizers:
        after = before
        if event.scaler in before.scalers:
            move = GRADIENTS.get((EventKind.UPDATE, before.gradients), GradientMove(before.gradients))
            after = replace(after, gradients=move.gradients)
        if record.stage(key) in (Stage.UNSCALED, Stage.STEPPED):
            after = replace(after, unscale_site=None, step_site=None)
        state = state.with_optimizer(key, after)
    cleared = ScalerState((), Stage.READY, has_record=False, is_set=record.is_set, update_site=event.site)
    return state.with_scaler(event.scaler, cleared), ()


def _gradients(
    before: OptimizerState, event: Event, key: Hashable, is_divided: bool = False
) -> tuple[OptimizerState, tuple[Error, ...]]:
    """One optimizer's gradients after an event; is_divided says that the scaler knows that it unscaled them."""
    pair = (event.kind, before.gradients)
    move = GRADIENTS.get(pair, GradientMove(before.gradients))
    if not event.is_certain and pair in RENEWED_WHEN_UNCERTAIN:
        move = GradientMove(Gradients.SCALED)
    elif not event.is_certain and pair not in CERTAIN_ENOUGH and move.gradients is not before.gradients:
        move = GradientMove(Gradients.UNKNOWN)
    reason = _other_error(before, event, is_divided) or move.error
    if reason in _NEEDING_GRADIENTS and before.unscale_site is not None:
        reason = Reason.ZERO_BEFORE_STEP
    errors = (_error(reason, event, key, before),) if reason is not None else ()
    return _moved(before, event, move), errors


def _other_error(before: OptimizerState, event: Event, is_divided: bool) -> Reason | None:
    """What the rows cannot say, because it needs more than the kind of the gradients."""
    match event.kind, before.gradients:
        case EventKind.STEP, gradients if is_divided and before.unscale_site is None and gradients not in _ABSENT:
            return Reason.UNSCALE_AMONG_BACKWARDS
        case EventKind.STEP, Gradients.MIXED:
            return before.cause
        case EventKind.STEP, Gradients.SCALED if event.scaler not in before.scalers:
            return Reason.OTHER_SCALER
        case EventKind.STEP, Gradients.UNSCALED if not is_divided:
            return Reason.OTHER_SCALER if event.scaler not in before.scalers else Reason.DIVIDED_TWICE
        case EventKind.DIRECT_STEP, Gradients.SPENT if before.scalers:
            return Reason.STEP_AROUND
        case _:
            return None


def _moved(before: OptimizerState, event: Event, move: GradientMove) -> OptimizerState:
    after = replace(before, gradients=move.gradients)
    if move.cause is not None:
        # The backward without the scale is at fault, also where the one with it came second.
        is_second = move.cause is Reason.UNSCALED_BACKWARD and event.kind is EventKind.SCALED_BACKWARD
        after = replace(after, cause=move.cause, cause_site=before.backward_site if is_second else event.site)
    match event.kind:
        case EventKind.SCALED_BACKWARD:
            return _scaled(before, after, event)
        case EventKind.PLAIN_BACKWARD:
            is_first = before.gradients in (Gradients.CLEAN, Gradients.SPENT, Gradients.DROPPED)
            return replace(after, backward_site=event.site, scalers=frozenset() if is_first else after.scalers)
        case EventKind.UNSCALE:
            is_foreign = before.gradients is Gradients.SCALED and event.scaler not in before.scalers
            if is_foreign:
                after = replace(after, gradients=Gradients.MIXED, cause=Reason.OTHER_SCALER, cause_site=event.site)
            site = before.unscale_site if before.gradients in _ABSENT else event.site
            return replace(after, unscale_site=site, scalers=before.scalers or frozenset({event.scaler}))
        case EventKind.STEP | EventKind.DIRECT_STEP if move.gradients is not Gradients.SPENT:
            return after
        case EventKind.STEP:
            return OptimizerState(Gradients.SPENT, frozenset({event.scaler}), step_site=event.site)
        case EventKind.DIRECT_STEP:
            return OptimizerState(Gradients.SPENT, unscale_site=before.unscale_site, step_site=event.site)
        case EventKind.ZERO if move.gradients is Gradients.DROPPED and before.gradients is not Gradients.DROPPED:
            return replace(after, dropped_site=event.site)
        case EventKind.ZERO if move.gradients is Gradients.CLEAN:
            return OptimizerState(Gradients.CLEAN, unscale_site=before.unscale_site, step_site=before.step_site)
        case _:
            return after


def _scaled(before: OptimizerState, after: OptimizerState, event: Event) -> OptimizerState:
    is_added = before.gradients is Gradients.SCALED
    is_foreign = is_added and event.scaler not in before.scalers
    if is_foreign and event.is_certain:
        after = replace(after, gradients=Gradients.MIXED, cause=Reason.OTHER_SCALER, cause_site=event.site)
    scalers = before.scalers | {event.scaler} if is_added else frozenset({event.scaler})
    return replace(after, backward_site=event.site, scalers=scalers)


def _error(reason: Reason, event: Event, key: Hashable, before: OptimizerState) -> Error:
    known = (
        (EventKind.ZERO, before.dropped_site),
        (EventKind.SCALED_BACKWARD if before.scalers else EventKind.PLAIN_BACKWARD, before.backward_site),
        (EventKind.UNSCALE, before.unscale_site),
        (EventKind.STEP, before.step_site),
    )
    because = tuple((kind, site) for kind, site in known if site is not None)
    is_crash = bool(CONSEQUENCES[reason].crash)
    return Error(reason, event.site, event.scaler, key, because, is_crash)
