"""Correct loops are silent; a planted mistake is named by its code, at its line."""

import re

import pytest

from tests.runtime.driving import ALL, BY_NAME, Loop, run
from tests.runtime.planting import MISTAKES, WITHOUT_SCALER, Planted, planted_in
from tests.runtime.small import SINGLE, SOFT_LABELS


def _cases() -> list[tuple[Loop, Planted]]:
    loops = [loop for loop in ALL if loop.name not in WITHOUT_SCALER]
    return [(loop, planted) for loop in loops for planted in planted_in(loop.code.read_text())]


def _name(case: tuple[Loop, Planted]) -> str:
    return f"{case[0].name}-{case[1].mistake}-{case[1].lines[0]}"


CASES = _cases()
# Every ninth, and of each mistake at least one.
_SOME = [*{planted.mistake: (loop, planted) for loop, planted in CASES}.values(), *CASES[::9]]
FEW = list({_name(case): case for case in _SOME}.values())


@pytest.mark.parametrize("loop", ALL, ids=lambda loop: loop.name)
def test_a_correct_loop_is_silent(driver, loop):
    result = run(driver, loop)
    assert result.trace.outcome.is_clean, result.trace.outcome.traceback
    assert result.trace.steps
    assert result.trace.sightings == []


def _assert_named(driver, loop: Loop, planted: Planted) -> None:
    result = run(driver, loop, planted.text)
    seen = [(each.code, each.site.line, each.site.path) for each in result.trace.sightings]
    wanted = {(code, line, str(loop.code)) for code in planted.codes for line in planted.lines}
    assert wanted & set(seen), seen
    # A loop that also logs norms, or that overflows, shows a second consequence of the same mistake.
    others = {code for code, _, _ in seen} - set(planted.codes) - {"AMP214", "AMP904"}
    assert not others, seen


@pytest.mark.parametrize(("loop", "planted"), FEW, ids=[_name(case) for case in FEW])
def test_a_planted_mistake_is_named(driver, loop, planted):
    _assert_named(driver, loop, planted)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("loop", "planted"), CASES, ids=[_name(case) for case in CASES])
def test_every_planted_mistake_is_named(driver, loop, planted):
    _assert_named(driver, loop, planted)


def test_every_mistake_can_be_planted_somewhere():
    assert {planted.mistake for _, planted in CASES} == {mistake.__name__ for mistake in MISTAKES}
    assert {planted.mistake for _, planted in FEW} == {mistake.__name__ for mistake in MISTAKES}


@pytest.mark.parametrize("name", SINGLE)
def test_a_mistake_of_its_own_shape_is_named(driver, tmp_path, name):
    text = SINGLE[name]
    lines = enumerate(text.splitlines(), 1)
    wanted = {(code, number) for number, line in lines for code in re.findall(r"# (AMP\d+)", line)}
    path = tmp_path / "train.py"
    path.write_text(text)
    result = run(driver, Loop(name, path, path))
    assert {(each.code, each.site.line) for each in result.trace.sightings} == wanted, result.trace.outcome


@pytest.mark.parametrize(
    "loss",
    [
        "cross_entropy(outputs, targets) / 2",
        "cross_entropy(outputs, targets, label_smoothing=0.1) / 2",
        "-(outputs.log_softmax(1) * targets).sum() / 12",
        "torch.nn.functional.kl_div(outputs.log_softmax(1), targets, reduction='batchmean') / 2",
        "torch.nn.functional.kl_div(outputs.log_softmax(1), targets, reduction='sum') / 12",
        "0.5 * cross_entropy(outputs, targets.argmax(1)) + 0.5 * outputs.square().mean()",
        "(cross_entropy(outputs, targets) + 0.1 * outputs.square().mean()) / 2",
        "cross_entropy(outputs, targets) / 2 + outputs.square().mean()",
    ],
)
def test_a_divided_loss_of_any_formula_is_silent(driver, tmp_path, loss):
    text = SOFT_LABELS.replace("cross_entropy(model(torch.randn(6, 4)), targets)", loss).replace(
        "        loss =", "        outputs = model(torch.randn(6, 4))\n        loss ="
    )
    path = tmp_path / "train.py"
    path.write_text(text)
    result = run(driver, Loop("divided", path, path))
    assert result.trace.outcome.is_clean
    assert result.trace.sightings == []


def test_a_trace_can_be_replayed(driver):
    from amplint.runtime.sanitizer import Sanitizer

    loop = BY_NAME["mlp"]
    text = next(each.text for each in planted_in(loop.code.read_text()) if each.mistake == "drop_unscale")
    trace = run(driver, loop, text).trace
    sanitizer = Sanitizer()
    listeners = list(sanitizer.handlers())
    for event in trace.events:
        for handlers in listeners:
            if event.kind in handlers:
                handlers[event.kind](event)
    assert sanitizer.notebook.sightings == trace.sightings != []
