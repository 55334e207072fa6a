"""The protocol of torch.amp.GradScaler, as rows: what each event does to a scaler's record and to gradients.

Knows nothing of programs, graphs or traces; `automaton.py` runs these rows over a state, for whoever reads events.
The rows follow torch/amp/grad_scaler.py: stages are its own `OptState`, kept for each scaler and optimizer.
"""

from enum import StrEnum

from amplint.model.data import Value


class EventKind(StrEnum):
    """What happens to scalers, optimizers and gradients."""

    CREATE = "create"
    SCALE = "scale"
    SCALED_BACKWARD = "scaled backward"
    PLAIN_BACKWARD = "plain backward"
    UNSCALE = "unscale"
    CLIP = "clip"
    READ = "read"
    STEP = "step"
    DIRECT_STEP = "direct step"
    UPDATE = "update"
    SET_SCALE = "set scale"
    ZERO = "zero"
    FORGET = "forget"


class Stage(StrEnum):
    """What a scaler has done with one optimizer since its last update (PyTorch's `OptState`)."""

    UNKNOWN = "unknown"
    READY = "ready"
    UNSCALED = "unscaled"
    STEPPED = "stepped"


class Gradients(StrEnum):
    """What an optimizer's gradients are, compared with the gradients of the plain loss.

    stale: scaled, and the scale has changed hands since (an update came between). forgotten: unscaled, but the scaler
    no longer knows it and would divide again. spent: an optimizer step used them. dropped: zeroed before any step did.
    mixed: a sum of parts with different scales, or divided twice; the cause is kept beside it.
    """

    UNKNOWN = "unknown"
    CLEAN = "clean"
    SCALED = "scaled"
    UNSCALED = "unscaled"
    PLAIN = "plain"
    MIXED = "mixed"
    STALE = "stale"
    FORGOTTEN = "forgotten"
    SPENT = "spent"
    DROPPED = "dropped"


class Reason(StrEnum):
    """Why an event is an error."""

    CLIP_SCALED = "clip-scaled"
    CLIP_PARTLY_SCALED = "clip-partly-scaled"
    CLIP_BEFORE_BACKWARD = "clip-before-backward"
    CLIP_AFTER_STEP = "clip-after-step"
    READ_SCALED = "read-scaled"
    NO_UPDATE = "no-update"
    UNSCALE_TWICE = "unscale-twice"
    UNSCALE_AFTER_STEP = "unscale-after-step"
    UPDATE_WITHOUT_RECORD = "update-without-record"
    UPDATE_BEFORE_STEP = "update-before-step"
    UPDATE_AMONG_BACKWARDS = "update-among-backwards"
    UNSCALE_AMONG_BACKWARDS = "unscale-among-backwards"
    ZERO_AMONG_BACKWARDS = "zero-among-backwards"
    STEP_AROUND = "step-around"
    STEP_AROUND_UNSCALED = "step-around-unscaled"
    UNSCALED_BACKWARD = "unscaled-backward"
    OTHER_SCALER = "other-scaler"
    DIVIDED_TWICE = "divided-twice"
    ZERO_BEFORE_STEP = "zero-before-step"
    STEP_WITHOUT_GRADIENTS = "step-without-gradients"
    SCALE_NOT_SET = "scale-not-set"


class Consequence(Value):
    """What a reason means when it happens.

    crash: the start of the message of the exception that torch raises at the event itself, '' where it goes on.
    moot: reasons that are no defects of their own after this one, for the same optimizer and scaler.
    """

    meaning: str
    crash: str = ""
    moot: frozenset[Reason] = frozenset()


_AFTER_BAD_UPDATE = frozenset(
    {
        Reason.UPDATE_WITHOUT_RECORD,
        Reason.UPDATE_BEFORE_STEP,
        Reason.UPDATE_AMONG_BACKWARDS,
        Reason.UNSCALE_TWICE,
        Reason.UNSCALE_AFTER_STEP,
        Reason.NO_UPDATE,
    }
)
_AFTER_BAD_UNSCALE = _AFTER_BAD_UPDATE | {Reason.UNSCALE_AMONG_BACKWARDS, Reason.DIVIDED_TWICE}

CONSEQUENCES: dict[Reason, Consequence] = {
    Reason.CLIP_SCALED: Consequence("the threshold meets gradients that are still multiplied by the loss scale"),
    Reason.CLIP_PARTLY_SCALED: Consequence(
        "one norm is taken over unscaled gradients of one optimizer and scaled gradients of another",
        moot=frozenset({Reason.CLIP_SCALED}),
    ),
    Reason.CLIP_BEFORE_BACKWARD: Consequence("there are no gradients yet"),
    Reason.CLIP_AFTER_STEP: Consequence("the step that should have seen clipped gradients is over"),
    Reason.READ_SCALED: Consequence("the value read is multiplied by the loss scale"),
    Reason.NO_UPDATE: Consequence(
        "the scaler still holds the state of the step before",
        crash="step() has already been called since the last update().",
        moot=frozenset({Reason.UNSCALE_AFTER_STEP, Reason.CLIP_SCALED, Reason.READ_SCALED}),
    ),
    Reason.UNSCALE_TWICE: Consequence(
        "the gradients were unscaled before, and no update came between",
        crash="unscale_() has already been called on this optimizer since the last update().",
        moot=_AFTER_BAD_UNSCALE,
    ),
    Reason.UNSCALE_AFTER_STEP: Consequence(
        "the optimizer's step is over, and no update came between",
        crash="unscale_() is being called after step().",
        moot=frozenset({Reason.NO_UPDATE, Reason.CLIP_SCALED, Reason.READ_SCALED}),
    ),
    Reason.UPDATE_WITHOUT_RECORD: Consequence(
        "no unscale_ or step has looked for infs since the last update",
        crash="No inf checks were recorded prior to update.",
        moot=_AFTER_BAD_UPDATE,
    ),
    Reason.UPDATE_BEFORE_STEP: Consequence(
        "the step divides by another scale than the one that its loss was multiplied by, or divides a second time",
        moot=_AFTER_BAD_UPDATE,
    ),
    Reason.UPDATE_AMONG_BACKWARDS: Consequence(
        "gradients of one group of micro-batches carry different scales", moot=_AFTER_BAD_UNSCALE
    ),
    Reason.UNSCALE_AMONG_BACKWARDS: Consequence(
        "scaled gradients are added to gradients that were unscaled before", moot=_AFTER_BAD_UNSCALE
    ),
    Reason.ZERO_AMONG_BACKWARDS: Consequence("only the last micro-batch of the group counts"),
    Reason.STEP_AROUND: Consequence(
        "the optimizer applies gradients that are still multiplied by the loss scale",
        moot=frozenset({Reason.UPDATE_WITHOUT_RECORD, Reason.ZERO_BEFORE_STEP}),
    ),
    Reason.STEP_AROUND_UNSCALED: Consequence(
        "an overflow writes inf and NaN into the parameters, for nobody looks at the inf check"
    ),
    Reason.UNSCALED_BACKWARD: Consequence(
        "the gradients are divided by a scale that they were never multiplied by",
        moot=frozenset({Reason.CLIP_SCALED, Reason.DIVIDED_TWICE}),
    ),
    Reason.OTHER_SCALER: Consequence("the gradients carry the scale of another scaler"),
    Reason.DIVIDED_TWICE: Consequence("the gradients are divided by the scale a second time"),
    Reason.ZERO_BEFORE_STEP: Consequence("the step sees no gradients", moot=frozenset({Reason.STEP_WITHOUT_GRADIENTS})),
    Reason.STEP_WITHOUT_GRADIENTS: Consequence(
        "no gradient reached this optimizer", crash="No inf checks were recorded for this optimizer."
    ),
    Reason.SCALE_NOT_SET: Consequence("no loss has ever been scaled by this scaler", crash="Attempted "),
}


class StageMove(Value):
    """The stage after an event; an error leaves the stage as it was, for torch raises."""

    stage: Stage
    error: Reason | None = None


STAGES: dict[tuple[EventKind, Stage], StageMove] = {
    (EventKind.UNSCALE, Stage.UNKNOWN): StageMove(Stage.UNSCALED),
    (EventKind.UNSCALE, Stage.READY): StageMove(Stage.UNSCALED),
    (EventKind.UNSCALE, Stage.UNSCALED): StageMove(Stage.UNSCALED, Reason.UNSCALE_TWICE),
    (EventKind.UNSCALE, Stage.STEPPED): StageMove(Stage.STEPPED, Reason.UNSCALE_AFTER_STEP),
    (EventKind.STEP, Stage.UNKNOWN): StageMove(Stage.STEPPED),
    (EventKind.STEP, Stage.READY): StageMove(Stage.STEPPED),
    (EventKind.STEP, Stage.UNSCALED): StageMove(Stage.STEPPED),
    (EventKind.STEP, Stage.STEPPED): StageMove(Stage.STEPPED, Reason.NO_UPDATE),
}


class GradientMove(Value):
    """The gradients after an event.

    error is reported at once. cause is kept with the gradients and reported by the step that uses them: until then
    a zero_grad can still make them right.
    """

    gradients: Gradients
    error: Reason | None = None
    cause: Reason | None = None


_G, _E, _R = Gradients, EventKind, Reason

# A pair that is not listed leaves the gradients as they are.
GRADIENTS: dict[tuple[EventKind, Gradients], GradientMove] = {
    (_E.SCALED_BACKWARD, _G.UNKNOWN): GradientMove(_G.SCALED),
    (_E.SCALED_BACKWARD, _G.CLEAN): GradientMove(_G.SCALED),
    (_E.SCALED_BACKWARD, _G.SPENT): GradientMove(_G.SCALED),
    (_E.SCALED_BACKWARD, _G.DROPPED): GradientMove(_G.SCALED),
    (_E.SCALED_BACKWARD, _G.UNSCALED): GradientMove(_G.MIXED, cause=_R.UNSCALE_AMONG_BACKWARDS),
    (_E.SCALED_BACKWARD, _G.PLAIN): GradientMove(_G.MIXED, cause=_R.UNSCALED_BACKWARD),
    (_E.SCALED_BACKWARD, _G.STALE): GradientMove(_G.MIXED, cause=_R.UPDATE_AMONG_BACKWARDS),
    (_E.SCALED_BACKWARD, _G.FORGOTTEN): GradientMove(_G.MIXED, cause=_R.UPDATE_AMONG_BACKWARDS),
    (_E.PLAIN_BACKWARD, _G.CLEAN): GradientMove(_G.PLAIN),
    (_E.PLAIN_BACKWARD, _G.SPENT): GradientMove(_G.PLAIN),
    (_E.PLAIN_BACKWARD, _G.DROPPED): GradientMove(_G.PLAIN),
    (_E.PLAIN_BACKWARD, _G.SCALED): GradientMove(_G.MIXED, cause=_R.UNSCALED_BACKWARD),
    (_E.PLAIN_BACKWARD, _G.STALE): GradientMove(_G.MIXED, cause=_R.UNSCALED_BACKWARD),
    (_E.UNSCALE, _G.UNKNOWN): GradientMove(_G.UNSCALED),
    (_E.UNSCALE, _G.SCALED): GradientMove(_G.UNSCALED),
    (_E.UNSCALE, _G.UNSCALED): GradientMove(_G.MIXED, cause=_R.DIVIDED_TWICE),
    (_E.UNSCALE, _G.PLAIN): GradientMove(_G.MIXED, cause=_R.UNSCALED_BACKWARD),
    (_E.UNSCALE, _G.STALE): GradientMove(_G.MIXED, cause=_R.UPDATE_BEFORE_STEP),
    (_E.UNSCALE, _G.FORGOTTEN): GradientMove(_G.MIXED, cause=_R.UPDATE_BEFORE_STEP),
    (_E.CLIP, _G.CLEAN): GradientMove(_G.CLEAN, error=_R.CLIP_BEFORE_BACKWARD),
    (_E.CLIP, _G.SCALED): GradientMove(_G.SCALED, error=_R.CLIP_SCALED),
    (_E.CLIP, _G.STALE): GradientMove(_G.STALE, error=_R.CLIP_SCALED),
    (_E.CLIP, _G.SPENT): GradientMove(_G.SPENT, error=_R.CLIP_AFTER_STEP),
    (_E.READ, _G.SCALED): GradientMove(_G.SCALED, error=_R.READ_SCALED),
    (_E.READ, _G.STALE): GradientMove(_G.STALE, error=_R.READ_SCALED),
    (_E.STEP, _G.UNKNOWN): GradientMove(_G.SPENT),
    (_E.STEP, _G.CLEAN): GradientMove(_G.CLEAN, error=_R.STEP_WITHOUT_GRADIENTS),
    (_E.STEP, _G.SCALED): GradientMove(_G.SPENT),
    (_E.STEP, _G.UNSCALED): GradientMove(_G.SPENT),
    (_E.STEP, _G.PLAIN): GradientMove(_G.SPENT, error=_R.UNSCALED_BACKWARD),
    (_E.STEP, _G.STALE): GradientMove(_G.SPENT, error=_R.UPDATE_BEFORE_STEP),
    (_E.STEP, _G.FORGOTTEN): GradientMove(_G.SPENT, error=_R.UPDATE_BEFORE_STEP),
    (_E.STEP, _G.MIXED): GradientMove(_G.SPENT),
    (_E.STEP, _G.DROPPED): GradientMove(_G.DROPPED, error=_R.ZERO_BEFORE_STEP),
    (_E.DIRECT_STEP, _G.UNKNOWN): GradientMove(_G.SPENT),
    (_E.DIRECT_STEP, _G.SCALED): GradientMove(_G.SPENT, error=_R.STEP_AROUND),
    (_E.DIRECT_STEP, _G.STALE): GradientMove(_G.SPENT, error=_R.STEP_AROUND),
    (_E.DIRECT_STEP, _G.UNSCALED): GradientMove(_G.SPENT, error=_R.STEP_AROUND_UNSCALED),
    (_E.DIRECT_STEP, _G.FORGOTTEN): GradientMove(_G.SPENT, error=_R.STEP_AROUND_UNSCALED),
    (_E.DIRECT_STEP, _G.PLAIN): GradientMove(_G.SPENT),
    (_E.DIRECT_STEP, _G.MIXED): GradientMove(_G.SPENT),
    (_E.UPDATE, _G.SCALED): GradientMove(_G.STALE),
    (_E.UPDATE, _G.UNSCALED): GradientMove(_G.FORGOTTEN),
    (_E.ZERO, _G.UNKNOWN): GradientMove(_G.CLEAN),
    (_E.ZERO, _G.SPENT): GradientMove(_G.CLEAN),
    (_E.ZERO, _G.SCALED): GradientMove(_G.DROPPED),
    (_E.ZERO, _G.UNSCALED): GradientMove(_G.DROPPED),
    (_E.ZERO, _G.PLAIN): GradientMove(_G.DROPPED),
    (_E.ZERO, _G.STALE): GradientMove(_G.DROPPED),
    (_E.ZERO, _G.FORGOTTEN): GradientMove(_G.DROPPED),
    (_E.ZERO, _G.MIXED): GradientMove(_G.DROPPED),
    **{(_E.FORGET, gradients): GradientMove(_G.UNKNOWN) for gradients in _G},
}

# Where it is not certain that an event reaches an optimizer's gradients (several optimizers, and nobody can tell whose
# parameters a loss reaches), only these pairs move them as above; any other change leaves them unknown.
# The newest backward is taken to be theirs: `step` after `update` after a backward of another optimizer is no defect.
CERTAIN_ENOUGH: frozenset[tuple[EventKind, Gradients]] = frozenset(
    {
        (_E.SCALED_BACKWARD, _G.UNKNOWN),
        (_E.SCALED_BACKWARD, _G.CLEAN),
        (_E.SCALED_BACKWARD, _G.SPENT),
        (_E.SCALED_BACKWARD, _G.DROPPED),
        (_E.PLAIN_BACKWARD, _G.CLEAN),
        (_E.PLAIN_BACKWARD, _G.SPENT),
        (_E.PLAIN_BACKWARD, _G.DROPPED),
        (_E.ZERO, _G.SPENT),
        (_E.ZERO, _G.CLEAN),
        (_E.CLIP, _G.SCALED),
        (_E.READ, _G.SCALED),
    }
)
RENEWED_WHEN_UNCERTAIN: frozenset[tuple[EventKind, Gradients]] = frozenset({(_E.SCALED_BACKWARD, _G.STALE)})
