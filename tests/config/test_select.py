"""The narrowest selector decides."""

from pathlib import Path

import pytest

from amplint.config.globs import Globs
from amplint.config.select import Layer, RuleName, Selection, codes_of
from amplint.config.usage import UsageError

RULES = (
    RuleName("AMP101", "deprecated-amp-namespace", True),
    RuleName("AMP201", "clip-of-scaled-gradients", True),
    RuleName("AMP202", "step-without-update", True),
    RuleName("AMP405", "custom-function-without-cast", False),
)


@pytest.mark.parametrize(
    ("layers", "codes"),
    [
        ([], "101 201 202"),
        ([Layer(select=("ALL",))], "101 201 202 405"),
        ([Layer(select=("AMP2",))], "201 202"),
        ([Layer(select=("clip-of-scaled-gradients",))], "201"),
        ([Layer(extend_select=("AMP4",))], "101 201 202 405"),
        ([Layer(ignore=("AMP2",))], "101"),
        ([Layer(select=("AMP2",), ignore=("AMP201",))], "202"),
        ([Layer(select=("AMP201",), ignore=("AMP2",))], "201"),
        ([Layer(select=("AMP201",), ignore=("AMP201",))], ""),
        ([Layer(extend_select=("AMP405",), ignore=("AMP4",))], "101 201 202 405"),
        ([Layer(select=("AMP1",)), Layer(select=("AMP2",))], "201 202"),
        ([Layer(ignore=("AMP201",)), Layer(select=("AMP2",))], "202"),
        ([Layer(ignore=("AMP201",)), Layer(select=("AMP201",))], "201"),
        ([Layer(extend_select=("AMP405",)), Layer(ignore=("AMP1",))], "201 202 405"),
        ([Layer(select=())], ""),
        ([Layer(ignore=("ALL",))], ""),
        ([Layer(ignore=("ALL",), extend_select=("AMP1",))], "101"),
    ],
)
def test_selection(layers: list[Layer], codes: str) -> None:
    assert Selection(RULES, layers).for_path(Path("/r/a.py")) == {f"AMP{code}" for code in codes.split()}


def test_preview_adds_to_the_default_rules_and_to_no_selection() -> None:
    rules = (*RULES, RuleName("AMP704", "size-not-multiple-of-8", False, is_preview=True))
    path = Path("/r/a.py")
    assert "AMP704" not in Selection(rules).for_path(path)
    assert Selection(rules, has_preview=True).for_path(path) == {"AMP101", "AMP201", "AMP202", "AMP704"}
    assert Selection(rules, [Layer(ignore=("AMP7",))], has_preview=True).for_path(path).isdisjoint({"AMP704"})
    assert Selection(rules, [Layer(select=("AMP1",))], has_preview=True).for_path(path) == {"AMP101"}
    assert Selection(rules, [Layer(extend_select=("AMP704",))]).for_path(path) >= {"AMP704", "AMP101"}


def test_per_file_ignores() -> None:
    selection = Selection(RULES, [], [(Globs(["bench/*"], Path("/r")), ("AMP2",))])
    assert selection.for_path(Path("/r/bench/a.py")) == {"AMP101"}
    assert selection.for_path(Path("/r/a.py")) == {"AMP101", "AMP201", "AMP202"}


@pytest.mark.parametrize("selector", ["AMP9", "clip-of-scaled-gradient", "", "E501"])
def test_unknown_selectors(selector: str) -> None:
    with pytest.raises(UsageError, match="unknown rule"):
        Selection(RULES, [Layer(ignore=(selector,))])
    with pytest.raises(UsageError, match="did you mean 'clip-of-scaled-gradients'"):
        Selection(RULES, [Layer(select=("clip-of-scaled-gradient",))])


def test_codes_of() -> None:
    assert codes_of(["amp2", "ALL-of-it"], RULES) == {"AMP201", "AMP202"}
