"""The account of one run as JSON lines: what was done (events), each step's numbers, how the run ended.

Knows the file format, which `docs/runtime.md` documents; knows nothing of torch and draws no conclusions.
"""

import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from amplint.runtime.sighting import Sighting
from amplint.runtime.site import NOWHERE, Site

FORMAT = 1
_as_json = json.JSONEncoder(check_circular=False, allow_nan=False).encode


class Kind(StrEnum):
    """What an event says was done."""

    SCALER = "scaler"
    SCALE = "scale"
    BACKWARD = "backward"
    GRADIENT = "gradient"
    UNSCALE = "unscale"
    CLIP = "clip"
    READ = "read"
    CHANGE = "change"
    LOSS_READ = "loss-read"
    STEP = "step"
    OPTIMIZER_STEP = "optimizer-step"
    STEPPED = "stepped"
    UPDATE = "update"
    UPDATED = "updated"
    GET_SCALE = "get-scale"
    ZERO_GRAD = "zero-grad"
    REGION_ENTER = "region-enter"
    REGION_EXIT = "region-exit"
    REGION_DROPPED = "region-dropped"
    SCHEDULE = "schedule"
    ANOMALY = "anomaly"
    SAVE = "save"
    LOAD = "load"
    END = "end"


class Event(NamedTuple):
    """Something that the program did with AMP. data holds numbers that name scalers, optimizers and parameters."""

    kind: Kind
    site: Site
    data: Mapping[str, Any]


Handlers = Mapping[Kind, Callable[[Event], None]]
"""What a listener wants to be called for."""


@dataclass(frozen=True, slots=True)
class Step:
    """The numbers of one optimizer step, applied or skipped.

    loss is divided by the scale again; norm is the gradient's at the step, seen_norm the one that the clip saw;
    max_norm is its bound, and max_value that of a clip by value, with largest the largest magnitude at the step;
    backwards counts those that reached this optimizer's gradients since its previous step; parameters is a hash;
    seconds counts from the previous step; memory is the peak so far in bytes; dtypes counts the operations of the
    forward pass by dtype; scales counts the calls of `scale()` so far, where a scaler made the step.
    """

    index: int
    optimizer: int
    is_applied: bool
    has_overflow: bool
    loss: float | None = None
    scale: float | None = None
    norm: float | None = None
    seen_norm: float | None = None
    max_norm: float | None = None
    max_value: float | None = None
    largest: float | None = None
    clip_coefficient: float | None = None
    backwards: int = 0
    smallest: float | None = None
    learning_rate: float | None = None
    parameters: str | None = None
    seconds: float = 0.0
    memory: int = 0
    dtypes: Mapping[str, int] = field(default_factory=dict)
    scales: int | None = None
    site: Site = NOWHERE


class Ending(StrEnum):
    """How a run came to its end."""

    FINISHED = "finished"
    STOPPED = "stopped after the steps asked for"
    EXITED = "left with an exit status"
    RAISED = "raised an exception"
    NEEDED_INPUT = "asked for input"
    TIMED_OUT = "ran past the time limit"
    INTERRUPTED = "was interrupted from the keyboard"
    VANISHED = "ended without a word"
    NOT_STARTED = "could not be started"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: exit status, the exception's type and text, its traceback without the tool's own frames."""

    ending: Ending
    status: int = 0
    error: str = ""
    traceback: str = ""
    forks: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether the program came to a proper end."""
        return self.ending in (Ending.FINISHED, Ending.STOPPED) or (self.ending is Ending.EXITED and self.status == 0)


def _line(data: Mapping[str, Any]) -> str:
    try:
        return _as_json(data)
    except ValueError:  # JSON has no infinities: they are written as text
        return _as_json({key: _plain(value) for key, value in data.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


class TraceWriter:
    """Appends records to a file; every step is flushed, so a killed run leaves what it did."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._places: set[tuple[Kind, Site]] = set()

    def write(self, record: str, data: Mapping[str, Any], *, is_flushed: bool = False) -> None:
        """Write one line. A forked child writes nothing: the file belongs to its parent."""
        if os.getpid() != self._owner:
            return
        line = _line({"record": record} | dict(data))
        with self._lock:
            self._stream.write(line + "\n")
            if is_flushed:
                self._stream.flush()

    def event(self, event: Event) -> None:
        """Write what was done."""
        self.write("event", {"kind": event.kind, "site": event.site} | dict(event.data))

    def place(self, event: Event) -> None:
        """Write what was done, unless it was done before at the same place."""
        key = event.kind, event.site
        if key not in self._places or event.kind is Kind.SCALER:
            self._places.add(key)
            self.event(event)

    def step(self, step: Step) -> None:
        """Write the numbers of a step that were recorded."""
        numbers = ((name, getattr(step, name)) for name in Step.__slots__)
        self.write("step", {name: value for name, value in numbers if value is not None}, is_flushed=True)

    def sighting(self, sighting: Sighting) -> None:
        """Write a misuse when it is seen."""
        self.write("sighting", {name: getattr(sighting, name) for name in Sighting.__slots__}, is_flushed=True)

    def outcome(self, outcome: Outcome) -> None:
        """Write how the run ended."""
        self.write("outcome", {name: getattr(outcome, name) for name in Outcome.__slots__}, is_flushed=True)


@dataclass(slots=True)
class Trace:
    """A whole run, read back."""

    start: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    outcome: Outcome = Outcome(Ending.VANISHED)


_FLOATS = frozenset(
    {
        "loss",
        "scale",
        "norm",
        "seen_norm",
        "max_norm",
        "max_value",
        "largest",
        "clip_coefficient",
        "smallest",
        "learning_rate",
    }
)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            try:
                record = json.loads(line)
            except ValueError:  # a run that was killed may leave half a line
                continue
            yield record


def read_trace(path: Path) -> Trace:
    """Read a trace; a missing file is the trace of a run that did not start."""
    trace = Trace()
    if not path.exists():
        return trace
    for record in _records(path):
        match record.pop("record"):
            case "start":
                trace.start = record
            case "event":
                kind, site = Kind(record.pop("kind")), Site(*record.pop("site"))
                trace.events.append(Event(kind, site, record))
            case "step":
                record["site"] = Site(*record["site"])
                for name in _FLOATS & record.keys():
                    record[name] = float(record[name])
                trace.steps.append(Step(**record))
            case "sighting":
                notes = tuple((Site(*place), text) for place, text in record["notes"])
                trace.sightings.append(Sighting(record["code"], record["message"], Site(*record["site"]), notes))
            case "summary":
                trace.summary = record
            case "outcome":
                trace.outcome = Outcome(**record | {"ending": Ending(record["ending"])})
    return trace
