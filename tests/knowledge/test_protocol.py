"""The rows of the protocol against torch's own scaler: crashes, messages, gradient values and `OptState`."""

import itertools
import random

import pytest

from amplint.knowledge.automaton import advance
from amplint.knowledge.protocol import CONSEQUENCES, GRADIENTS, STAGES, EventKind, Gradients, Reason, Stage
from amplint.knowledge.state import NEW_OPTIMIZER, NEW_SCALER, Error, Event, State

torch = pytest.importorskip("torch")

START = State((("s", NEW_SCALER),), (("o", NEW_OPTIMIZER),))
WORDS = {
    "scaled": (EventKind.SCALE, EventKind.SCALED_BACKWARD),
    "plain": (EventKind.PLAIN_BACKWARD,),
    "unscale": (EventKind.UNSCALE,),
    "step": (EventKind.STEP,),
    "direct": (EventKind.DIRECT_STEP,),
    "update": (EventKind.UPDATE,),
    "set": (EventKind.SET_SCALE,),
    "zero": (EventKind.ZERO,),
}

CRASHES_AT_TIMES = {
    Reason.UNSCALED_BACKWARD: "Attempted ",
    Reason.UNSCALE_AMONG_BACKWARDS: "No inf checks were recorded for this optimizer.",
    Reason.ZERO_BEFORE_STEP: "No inf checks were recorded for this optimizer.",
}


class Reality:
    """One weight, one SGD with learning rate 0, and a scaler whose scale is another after every update."""

    def __init__(self):
        self.weight = torch.nn.Parameter(torch.ones(()))
        self.optimizer = torch.optim.SGD([self.weight], lr=0.0)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_factor=2.0, growth_interval=1)
        self.backwards = 0
        self.settings = 0

    def do(self, word):
        """The message of the exception that torch raises, or None."""
        try:
            self._do(word)
        except (RuntimeError, AssertionError) as error:
            return str(error)
        return None

    def _do(self, word):
        match word:
            case "scaled":
                self.scaler.scale(self.weight * 1.0).backward()
                self.backwards += 1
            case "plain":
                (self.weight * 1.0).backward()
                self.backwards += 1
            case "unscale":
                self.scaler.unscale_(self.optimizer)
            case "step":
                self.scaler.step(self.optimizer)
            case "direct":
                self.optimizer.step()
            case "update":
                self.scaler.update()
            case "set":
                self.settings += 1
                self.scaler.update(8.0 * (2 * self.settings + 1))
            case "zero":
                self.optimizer.zero_grad()
                self.backwards = 0

    @property
    def stage(self):
        return self.scaler._per_optimizer_states[id(self.optimizer)]["stage"].name.lower()

    @property
    def gradient(self):
        return None if self.weight.grad is None else self.weight.grad.item()


def feed(state: State, word: str) -> tuple[State, tuple[Error, ...]]:
    found: tuple[Error, ...] = ()
    for kind in WORDS[word]:
        state, errors = advance(state, Event(kind, word, "s", ("o",)))
        found += errors
    return state, found


def compare(words):
    reality, state, is_leftover = Reality(), START, False
    for at, word in enumerate(words):
        story = f"{words[: at + 1]}"
        message = reality.do(word)
        before, (state, errors) = state, feed(state, word)
        crashes = [error for error in errors if error.is_crash]
        assert bool(message) == bool(crashes), (story, message, errors)
        if message:
            expected = CONSEQUENCES[crashes[0].reason].crash or CRASHES_AT_TIMES[crashes[0].reason]
            assert message.startswith(expected), (story, message, crashes)
            return
        assert state.scaler("s").stage("o") == reality.stage, story
        gradients = state.optimizer("o").gradients
        is_leftover |= before.optimizer("o").gradients is Gradients.SPENT and word in ("scaled", "plain")
        is_leftover &= word != "zero"
        if gradients in (Gradients.CLEAN, Gradients.DROPPED):
            assert reality.gradient is None, story
        elif gradients in (Gradients.UNSCALED, Gradients.PLAIN, Gradients.FORGOTTEN) and not is_leftover:
            assert reality.gradient == reality.backwards, story
        elif gradients is Gradients.SCALED and not is_leftover:
            assert reality.gradient == reality.backwards * reality.scaler.get_scale(), story
        elif gradients is Gradients.MIXED and not is_leftover:
            assert reality.gradient not in (reality.backwards, reality.backwards * reality.scaler.get_scale()), story


def test_every_sequence_of_four_events_goes_as_torch_goes():
    for words in itertools.product(WORDS, repeat=4):
        compare(words)


def test_long_sequences_go_as_torch_goes():
    chance = random.Random(20)
    likely = ["scaled", "scaled", "unscale", "step", "update", "zero", "plain", "direct", "set"]
    for _ in range(1500):
        compare(("scaled", *chance.choices(likely, k=9)))


def run(*words: str) -> list[Reason]:
    state, reasons = START, []
    for word in words:
        kinds = {"clip": (EventKind.CLIP,), "read": (EventKind.READ,)}.get(word) or WORDS[word]
        for kind in kinds:
            state, errors = advance(state, Event(kind, word, "s", ("o",)))
            reasons += [error.reason for error in errors]
    return reasons


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        ("scaled unscale clip step update", []),
        ("scaled clip step update", [Reason.CLIP_SCALED]),
        ("scaled step clip update", [Reason.CLIP_AFTER_STEP]),
        ("zero clip scaled step update", [Reason.CLIP_BEFORE_BACKWARD]),
        ("scaled read step update", [Reason.READ_SCALED]),
        ("scaled step scaled step", [Reason.NO_UPDATE]),
        ("scaled unscale unscale", [Reason.UNSCALE_TWICE]),
        ("scaled step unscale", [Reason.UNSCALE_AFTER_STEP]),
        ("scaled update", [Reason.UPDATE_WITHOUT_RECORD]),
        ("scaled unscale update step", [Reason.UPDATE_BEFORE_STEP]),
        ("scaled unscale update scaled step", [Reason.UPDATE_AMONG_BACKWARDS]),
        ("scaled unscale scaled step", [Reason.UNSCALE_AMONG_BACKWARDS]),
        ("scaled direct", [Reason.STEP_AROUND]),
        ("scaled step direct", [Reason.STEP_AROUND]),
        ("scaled unscale direct", [Reason.STEP_AROUND_UNSCALED]),
        ("plain direct scaled step update", []),
        ("scaled zero plain step", [Reason.UNSCALED_BACKWARD]),
        ("plain step", [Reason.UNSCALED_BACKWARD]),
        ("scaled plain step", [Reason.UNSCALED_BACKWARD]),
        ("scaled unscale zero step", [Reason.ZERO_BEFORE_STEP]),
        ("scaled unscale zero update scaled step update", []),
    ],
)
def test_what_is_an_error(words, reasons):
    assert run(*words.split()) == reasons


def two(*events: Event) -> list[tuple[Reason, str]]:
    state = State((("s", NEW_SCALER),), (("d", NEW_OPTIMIZER), ("g", NEW_OPTIMIZER)))
    found = []
    for event in events:
        state, errors = advance(state, event)
        found += [(error.reason, error.optimizer) for error in errors]
    return found


def backward(*optimizers: str, scaler: str = "s") -> tuple[Event, Event]:
    """Without optimizers: nobody knows whose gradients the loss reaches."""
    kind = EventKind.SCALED_BACKWARD
    return Event(EventKind.SCALE, 0, scaler), Event(kind, 1, scaler, optimizers or None, bool(optimizers))


def step(optimizer: str, scaler: str = "s") -> Event:
    return Event(EventKind.STEP, 2, scaler, (optimizer,))


UPDATE = Event(EventKind.UPDATE, 3, "s")


def test_complete_rounds_of_two_optimizers_are_right():
    zero = [Event(EventKind.ZERO, 4, None, (key,)) for key in "dg"]
    one_round = (zero[0], *backward(), step("d"), UPDATE, zero[1], *backward(), step("g"), UPDATE)
    assert two(*one_round, *one_round) == []


def test_update_between_the_steps_after_one_backward():
    assert two(*backward(), step("d"), UPDATE, step("g"), UPDATE) == [(Reason.UPDATE_BEFORE_STEP, "g")]


def test_one_clip_over_unscaled_and_scaled_gradients():
    unscale, clip = Event(EventKind.UNSCALE, 5, "s", ("d",)), Event(EventKind.CLIP, 6, None, ("d", "g"))
    assert two(*backward(), unscale, clip) == [(Reason.CLIP_PARTLY_SCALED, "g")]


def test_a_clip_of_nobody_knows_whose_gradients_needs_all_to_be_scaled():
    clip = Event(EventKind.CLIP, 6, None, None, is_certain=False)
    assert [reason for reason, _ in two(*backward(), clip)] == [Reason.CLIP_SCALED]
    assert two(*backward(), Event(EventKind.UNSCALE, 5, "s", ("d",)), clip) == []


def test_a_step_through_the_scaler_that_did_not_scale():
    assert two(*backward("d", scaler="t"), *backward("g"), step("d")) == [(Reason.OTHER_SCALER, "d")]


def test_what_was_not_seen_is_no_error():
    kinds = (EventKind.UNSCALE, EventKind.CLIP, EventKind.STEP, EventKind.DIRECT_STEP, EventKind.UPDATE, EventKind.READ)
    for kind in kinds:
        assert advance(State(), Event(kind, 1, "s", ("o",)))[1] == ()


def test_an_unscaled_backward_explains_the_clip_behind_it():
    assert Reason.CLIP_SCALED in CONSEQUENCES[Reason.UNSCALED_BACKWARD].moot


def test_the_rows_are_whole():
    assert set(CONSEQUENCES) == set(Reason)
    assert {stage for _, stage in STAGES} == set(Stage)
    assert {gradients for _, gradients in GRADIENTS} == set(Gradients)
