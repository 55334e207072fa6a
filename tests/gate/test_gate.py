"""The loops that tutorials teach, in every layout: silent when right, each single mistake reported by its own rule."""

from itertools import product

import pytest

from tests.fixture_engine import check, findings_of, fix
from tests.gate.layouts import LAYOUTS, Files
from tests.gate.loops import LOOPS, MISTAKES, Loop, Mistake
from tests.gate.stage import perform

RIGHT = list(product(LAYOUTS, LOOPS))
WRONG = [
    (layout, loop, mistake)
    for layout, loop, mistake in product(LAYOUTS, LOOPS, MISTAKES)
    if mistake.change(loop) is not None
]


def named(values: tuple[object, ...]) -> str:
    return "-".join(str(getattr(value, "name", value)) for value in values).replace(" ", "_")


def wrong(layout: str, loop: Loop, mistake: Mistake) -> Files:
    changed = mistake.change(loop)
    assert changed is not None
    return LAYOUTS[layout](changed)


def codes(files: Files) -> list[str]:
    return sorted({finding.code for finding in findings_of(check(files, {}))})


def text(files: Files) -> str:
    return "\n".join(f"# {name}\n{raw.decode()}" for name, raw in files.items())


@pytest.mark.parametrize(("layout", "loop"), RIGHT, ids=map(named, RIGHT))
def test_a_right_loop_is_silent(layout, loop):
    files = LAYOUTS[layout](loop)
    assert codes(files) == [], text(files)


@pytest.mark.parametrize(("layout", "loop", "mistake"), WRONG, ids=map(named, WRONG))
def test_a_mistake_is_reported_by_its_own_rule_alone(layout, loop, mistake):
    files = wrong(layout, loop, mistake)
    assert codes(files) == [mistake.code], text(files)


@pytest.mark.parametrize(("layout", "loop", "mistake"), WRONG, ids=map(named, WRONG))
def test_fixes_give_back_what_the_right_loop_does(layout, loop, mistake):
    files = wrong(layout, loop, mistake)
    result = fix(files, {})
    fixable = [
        finding for finding in result.findings if finding.fix is not None and finding.fix.applicability != "display"
    ]
    if not fixable:
        pytest.skip("the rule offers no fix here")
    assert codes(result.after) == [], text(result.after)
    for has_cuda in (True, False):
        assert perform(result.after, has_cuda) == perform(LAYOUTS[layout](loop), has_cuda), text(result.after)


@pytest.mark.parametrize(("layout", "loop"), RIGHT, ids=map(named, RIGHT))
def test_every_layout_does_what_the_function_does(layout, loop):
    files = LAYOUTS[layout](loop)
    if layout not in ("if use_amp", "scaler is not None"):  # these have a region that is not always on
        assert perform(files) == perform(LAYOUTS["function"](loop)), text(files)


@pytest.mark.parametrize(("layout", "loop", "mistake"), WRONG, ids=map(named, WRONG))
def test_every_mistake_changes_what_happens(layout, loop, mistake):
    assert perform(wrong(layout, loop, mistake)) != perform(LAYOUTS[layout](loop))
