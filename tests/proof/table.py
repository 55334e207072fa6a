"""The real protocol, read by the reference interpreter: what the table says of every path of a program."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from amplint.knowledge.automaton import advance
from amplint.knowledge.protocol import EventKind, Reason
from amplint.knowledge.state import NEW_OPTIMIZER, NEW_SCALER, Error, Event, State
from tests.proof import reference
from tests.proof.amp import AmpWriter
from tests.proof.programs import Program

START = State((("s", NEW_SCALER),), (("o", NEW_OPTIMIZER),))
Errors = set[tuple[int, Reason, bool]]
KINDS = {
    "scaled": (EventKind.SCALE, EventKind.SCALED_BACKWARD),
    "plain": (EventKind.PLAIN_BACKWARD,),
    "unscale": (EventKind.UNSCALE,),
    "clip": (EventKind.CLIP,),
    "step": (EventKind.STEP,),
    "direct": (EventKind.DIRECT_STEP,),
    "update": (EventKind.UPDATE,),
    "zero": (EventKind.ZERO,),
}


def feed(state: State, event: str) -> tuple[State, list[Error]]:
    """The state after an event and its errors; states tell where nothing happened, but not where something did."""
    found: list[Error] = []
    for kind in KINDS[event]:
        state, errors = advance(state, Event(kind, "here", "s", ("o",)))
        found.extend(errors)
    return state, found


def table_errors(program: Program) -> Errors:
    """(line of the program's text, reason, whether torch raises) of every error on some path."""
    return table_reading(program).errors


@dataclass
class TableReading:
    """errors; the events that some path reaches; the stages that the scaler may hold of the optimizer at the end."""

    errors: Errors = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)


def table_reading(program: Program) -> TableReading:
    """What the table says of all paths of a program."""
    writer = AmpWriter(program)
    sites = {key: line + writer.lines_before for key, line in writer.sites.items()}
    found = TableReading()

    def react(state: reference.State, event: str, site: int) -> Iterable[reference.State]:
        assert isinstance(state, State)
        after, errors = feed(state, event)
        found.events.add(event)
        found.errors.update((site, error.reason, error.is_crash) for error in errors)
        return () if any(error.is_crash for error in errors) else (after,)

    ends = reference.Reference(program, sites, react).run(START)
    states = [state for end in ("normal", "return") for _, state in ends.get(end, ())]
    found.stages = {state.scaler("s").stage("o").value for state in states if isinstance(state, State)}
    return found
