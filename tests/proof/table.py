"""The real protocol, read by the reference interpreter: what the table says of every path of a program."""

from collections.abc import Iterable

from amplint.knowledge.automaton import advance
from amplint.knowledge.protocol import EventKind, Reason
from amplint.knowledge.state import NEW_OPTIMIZER, NEW_SCALER, Error, Event, OptimizerState, State
from tests.proof import reference
from tests.proof.amp import AmpWriter
from tests.proof.programs import Program

START = State((("s", NEW_SCALER),), (("o", NEW_OPTIMIZER),))
# What a reader knows who sees the scaler made, but not that an optimizer has no gradients at first.
SEEN_START = State((("s", NEW_SCALER),), (("o", OptimizerState()),))
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


def table_errors(program: Program, start: State = START) -> Errors:
    """(line of the program's text, reason, whether torch raises) of every error on some path."""
    return table_reading(program, start)[0]


def table_reading(program: Program, start: State = START) -> tuple[Errors, set[str]]:
    """The errors, and the stages that the scaler may hold of the optimizer where the program has come to its end."""
    writer = AmpWriter(program)
    sites = {key: line + writer.lines_before for key, line in writer.sites.items()}
    found: Errors = set()

    def react(state: reference.State, event: str, site: int) -> Iterable[reference.State]:
        assert isinstance(state, State)
        after, errors = feed(state, event)
        found.update((site, error.reason, error.is_crash) for error in errors)
        return () if any(error.is_crash for error in errors) else (after,)

    ends = reference.Reference(program, sites, react).run(start)
    states = [state for end in ("normal", "return") for _, state in ends.get(end, ())]
    return found, {state.scaler("s").stage("o").value for state in states if isinstance(state, State)}
