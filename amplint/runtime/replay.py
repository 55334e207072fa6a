"""Replays what a program did through the protocol table of `knowledge/`, and names each error by amplint's code.

Knows how recorded events map to the table's and which code, at which place, a reason of the table deserves in a run.
The table decides what is wrong; nothing here does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from msgspec.structs import replace

from amplint.knowledge.protocol import CONSEQUENCES, EventKind, Gradients, Reason
from amplint.knowledge.state import NEW_OPTIMIZER, Error, State
from amplint.runtime.recall import Recall
from amplint.runtime.sighting import Notebook
from amplint.runtime.site import NOWHERE, Site
from amplint.runtime.trace import Event, Handlers, Kind

_DIRECT = {
    Kind.UNSCALE: EventKind.UNSCALE,
    Kind.STEP: EventKind.STEP,
    Kind.OPTIMIZER_STEP: EventKind.DIRECT_STEP,
    Kind.ZERO_GRAD: EventKind.ZERO,
    Kind.CLIP: EventKind.CLIP,
}

_CLOSING = frozenset({*_DIRECT, Kind.BACKWARD, Kind.END})
_THRESHOLDS = ("clamp_", "clip_", "_foreach_clamp_min_", "_foreach_clamp_max_")

_FIXED_CODES = {
    Reason.CLIP_SCALED: "AMP201",
    Reason.CLIP_PARTLY_SCALED: "AMP216",
    Reason.CLIP_BEFORE_BACKWARD: "AMP207",
    Reason.CLIP_AFTER_STEP: "AMP207",
    Reason.READ_SCALED: "AMP214",
    Reason.UPDATE_WITHOUT_RECORD: "AMP206",
    Reason.UPDATE_BEFORE_STEP: "AMP206",
    Reason.UPDATE_AMONG_BACKWARDS: "AMP303",
    Reason.UNSCALE_AMONG_BACKWARDS: "AMP302",
    Reason.ZERO_AMONG_BACKWARDS: "AMP304",
    Reason.STEP_AROUND: "AMP203",
    Reason.STEP_AROUND_UNSCALED: "AMP203",
    Reason.OTHER_SCALER: "AMP216",
    Reason.DIVIDED_TWICE: "AMP216",
    Reason.ZERO_BEFORE_STEP: "AMP218",
    Reason.STEP_WITHOUT_GRADIENTS: "AMP905",
}


@dataclass(slots=True)
class _Since:
    """What happened to one optimizer since the scaler last unscaled or stepped it."""

    has_backward: bool = False
    has_zero: bool = False


@dataclass(slots=True)
class Replay:
    """Listens to a run and keeps the table's state."""

    notebook: Notebook
    state: State = field(default_factory=State)
    _recall: Recall = field(default_factory=Recall)
    _known: set[int] = field(default_factory=set)
    _reads: list[tuple[Site, tuple[int, ...]]] = field(default_factory=list)
    _callers: dict[Site, Site] = field(default_factory=dict)
    _knows_scale: bool = False
    _updates: dict[int, Site] = field(default_factory=dict)
    _scales: dict[int, Site | None] = field(default_factory=dict)
    _discarded: dict[int, Site] = field(default_factory=dict)
    _plain: dict[int, Site] = field(default_factory=dict)
    _steps: dict[int, Site] = field(default_factory=dict)
    _since: dict[int, _Since] = field(default_factory=dict)
    _reported: set[tuple[object, Reason]] = field(default_factory=set)

    def handlers(self) -> Handlers:
        """What is to be called for an event of each kind."""
        return dict.fromkeys(_HANDLERS, self._hear)

    def _hear(self, event: Event) -> None:
        """Advance by an event of the run."""
        for number in _optimizers(event):
            if number not in self._known:
                self._known.add(number)
                self.state = self.state.with_optimizer(number, NEW_OPTIMIZER)
        if event.kind in _CLOSING:
            self._flush_reads()
        _HANDLERS[event.kind](self, event)

    def _create(self, event: Event) -> None:
        if event.data["is_enabled"]:
            self._advance(EventKind.CREATE, event.site, event.data["scaler"])

    def _scale(self, event: Event) -> None:
        self._scales[event.data["scaler"]] = event.site
        self._advance(EventKind.SCALE, event.site, event.data["scaler"])

    def _gradient(self, event: Event) -> None:
        for scaler in event.data["scalers"]:
            self._scales[scaler] = None

    def _update(self, event: Event) -> None:
        kind = EventKind.SET_SCALE if event.data["is_given"] else EventKind.UPDATE
        self._advance(kind, event.site, event.data["scaler"])
        self._updates[event.data["scaler"]] = event.site

    def _read(self, event: Event) -> None:
        self._reads.append((event.site, tuple(event.data["optimizers"])))
        self._callers[event.site] = Site(*event.data["caller"])

    def _get_scale(self, event: Event) -> None:
        """Whoever asks for the scale after a backward takes it into account, or so it is assumed."""
        self._knows_scale = True
        self._reads.clear()

    def _end(self, event: Event) -> None:
        """Nothing follows: what was read last is no half of a clip."""

    def _change(self, event: Event) -> None:
        """The program writes into gradients by hand.

        By a threshold, or by a factor after it looked at them, that is a clip; by a factor alone it may be the
        program's own unscaling; an assignment may be anything.
        """
        optimizers = tuple(event.data["optimizers"])
        was_read = any(set(optimizers) & set(read) for _, read in self._reads)
        if event.data["function"] in _THRESHOLDS or (was_read and not event.data["is_assignment"]):
            self._reads.clear()
            self._advance(EventKind.CLIP, event.site, None, optimizers)
        else:
            self._advance(EventKind.FORGET, event.site, None, optimizers)

    def _flush_reads(self) -> None:
        """What was read was not the first half of a clip."""
        for site, optimizers in () if self._knows_scale else self._reads:
            self._advance(EventKind.READ, site, None, optimizers)
        self._reads.clear()

    def _direct(self, event: Event) -> None:
        data, optimizers = event.data, _optimizers(event)
        if event.kind is Kind.CLIP and self._knows_scale:
            return
        self._advance(_DIRECT[event.kind], event.site, data.get("scaler"), optimizers)
        for number in optimizers:
            if event.kind in (Kind.UNSCALE, Kind.STEP):
                self._since[number] = _Since()
            elif event.kind is Kind.ZERO_GRAD and number in self._since:
                self._since[number].has_zero = True
        if event.kind is Kind.UNSCALE:
            self._spread(data.get("sharing", ()))
        if event.kind in (Kind.STEP, Kind.OPTIMIZER_STEP):
            self._steps[data["optimizer"]] = event.site
            self._discarded.pop(data["optimizer"], None)
            self._plain.pop(data["optimizer"], None)

    def _spread(self, sharing: Mapping[int, object] | tuple[int, ...]) -> None:
        """Optimizers that own the same parameters have their gradients divided too, though no scaler knows it."""
        for number in sharing:
            state = self.state.optimizer(number)
            if state.gradients is Gradients.SCALED:
                self.state = self.state.with_optimizer(number, replace(state, gradients=Gradients.UNSCALED))

    def _backward(self, event: Event) -> None:
        self._knows_scale = False
        optimizers = tuple(event.data["optimizers"])
        for number in optimizers:
            if number in self._since:
                self._since[number].has_backward = True
        scalers = event.data["scalers"]
        for scaler in scalers:
            self._scales[scaler] = None
            self._advance(EventKind.SCALED_BACKWARD, event.site, scaler, optimizers)
        if not scalers:
            unused = next((site for site in self._scales.values() if site is not None), None)
            for number in optimizers:
                self._plain[number] = event.site
                if unused is not None:
                    self._discarded[number] = unused
            self._scales.clear()
            self._advance(EventKind.PLAIN_BACKWARD, event.site, None, optimizers)

    def _advance(
        self, kind: EventKind, site: Site, scaler: int | None, optimizers: tuple[int, ...] | None = None
    ) -> None:
        self.state, errors = self._recall.advance(self.state, kind, site, scaler, optimizers)
        for error in errors:
            if (error.optimizer, error.reason) in self._reported:
                continue
            for reason in (error.reason, *CONSEQUENCES[error.reason].moot):
                # An update is not about one optimizer, yet its error may follow from what happened to one.
                self._reported.update({(error.optimizer, reason), (None, reason)})
            if error.reason is not Reason.OTHER_SCALER or not self.notebook.has("AMP208"):
                self._report(error)

    def _report(self, error: Error) -> None:
        because = {kind: cast(Site, site) for kind, site in error.because}
        site, optimizer = cast(Site, error.site), cast(int, error.optimizer)
        code = _FIXED_CODES.get(error.reason) or self._code_of(error)
        update = self._updates.get(cast(int, error.scaler), NOWHERE)
        place = {
            "AMP202": self._steps.get(optimizer, site),
            "AMP204": self._plain.get(optimizer, site),
            "AMP211": self._discarded.get(optimizer, site),
            "AMP218": because.get(EventKind.ZERO, site),
        }.get(code, site)
        if error.reason in (Reason.UPDATE_BEFORE_STEP, Reason.UPDATE_AMONG_BACKWARDS) and update is not NOWHERE:
            place = update
        if error.reason is Reason.UNSCALE_AMONG_BACKWARDS:
            place = because.get(EventKind.UNSCALE, site)
        meaning = CONSEQUENCES[error.reason].meaning
        notes = [(there, f"{kind.value} here") for kind, there in because.items()]
        notes += [(self._callers.get(site, NOWHERE), "called here"), (site, "seen here")]
        self.notebook.report(code, _MESSAGES.get(code, "") + meaning, place, *notes)

    def _code_of(self, error: Error) -> str:
        since = self._since.get(cast(int, error.optimizer), _Since())
        match error.reason:
            case Reason.UNSCALE_TWICE if since.has_zero:
                return "AMP212"
            case Reason.UNSCALE_TWICE if since.has_backward:
                return "AMP302"
            case Reason.UNSCALE_TWICE:
                return "AMP205"
            case Reason.UNSCALE_AFTER_STEP if not since.has_backward:
                return "AMP205"
            case Reason.UNSCALED_BACKWARD if cast(int, error.optimizer) in self._discarded:
                return "AMP211"
            case Reason.UNSCALED_BACKWARD | Reason.SCALE_NOT_SET:
                return "AMP204"
            case _:
                return "AMP202"


def _optimizers(event: Event) -> tuple[int, ...]:
    """The optimizers that an event is about."""
    several = event.data.get("optimizers")
    if several is not None:
        return tuple(several)
    one = event.data.get("optimizer")
    return () if one is None else (one,)


_HANDLERS: dict[Kind, Callable[[Replay, Event], None]] = {
    Kind.SCALER: Replay._create,
    Kind.SCALE: Replay._scale,
    Kind.BACKWARD: Replay._backward,
    Kind.GRADIENT: Replay._gradient,
    Kind.UPDATE: Replay._update,
    Kind.READ: Replay._read,
    Kind.GET_SCALE: Replay._get_scale,
    Kind.CHANGE: Replay._change,
    Kind.END: Replay._end,
    **dict.fromkeys(_DIRECT, Replay._direct),
}

_MESSAGES = {
    "AMP201": "the clip works on scaled gradients: ",
    "AMP202": "`update()` is missing after this step: ",
    "AMP203": "the optimizer is stepped around the scaler: ",
    "AMP204": "the loss of this backward was not scaled: ",
    "AMP205": "`unscale_` is called again: ",
    "AMP206": "`update()` comes at the wrong place: ",
    "AMP207": "the clip comes outside the step: ",
    "AMP211": "the result of `scale()` is thrown away: ",
    "AMP212": "a step was skipped without `update()`: ",
    "AMP214": "scaled gradients are read: ",
    "AMP216": "gradients of another scaler or optimizer: ",
    "AMP218": "the gradients are cleared before the step: ",
    "AMP302": "`unscale_` comes before the last backward of the group: ",
    "AMP303": "`update()` comes before the last backward of the group: ",
}
