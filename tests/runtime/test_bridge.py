"""What static rules expect of a fixture is what a run of it shows; fixed ones are silent and their fixes confirmed."""

import os

import pytest

from amplint.rules.registry import all_rules
from amplint.runtime.codes import SEEN, UNSEEN, why_unseen
from amplint.runtime.judge import judge
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.verdict import Change, Conclusion
from amplint.runtime.workshop import Conditions
from tests.runtime.bridge import SAME_DEATH, Fixture, drive, fits, program_of, runnable, seen_in

FIXTURES = [fixture for fixture in runnable() if not fixture.path.stem.endswith(".fixed")]
BAD = [fixture for fixture in FIXTURES if fixture.path.stem.startswith("bad_")]
SHOWN = [fixture for fixture in BAD if fixture.path.parent.name in SEEN]
GOOD = [fixture for fixture in FIXTURES if fixture.path.stem.startswith("good_")]
FIXED = [fixture for fixture in BAD if fixture.fixed_path.exists()]
CONTRACTS = {each.rule.code: str(each.rule.contract) for each in all_rules()}
names = {"ids": lambda fixture: fixture.name}


@pytest.mark.parametrize("fixture", SHOWN, **names)
def test_a_run_shows_what_the_static_rule_expects(driver, fixture: Fixture):
    trace = drive(driver, fixture)
    assert fits(trace), trace.outcome.error
    seen = seen_in(fixture, trace)
    for code, line in fixture.expected():
        assert seen & {(each, line) for each in {code, *SAME_DEATH.get(code, ())}}, (code, line, seen)


@pytest.mark.parametrize("fixture", GOOD, **names)
def test_a_run_of_a_good_fixture_is_silent(driver, fixture: Fixture):
    trace = drive(driver, fixture)
    assert fits(trace), trace.outcome.error
    assert trace.outcome.is_clean, trace.outcome.error
    assert trace.sightings == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("fixture", FIXED, **names)
def test_a_fixed_fixture_is_confirmed(driver, fixture: Fixture):
    program = program_of(fixture, drive(driver, fixture).start["arguments"][-1])
    lab = Laboratory(driver, Conditions(program, steps=8))
    path = os.path.realpath(fixture.path)
    lab.add("after", {path: fixture.fixed_path.read_text(encoding="utf-8")})
    code = fixture.path.parent.name
    lines = tuple(line for found, line in fixture.expected() if found == code)
    change = Change(code, fixture.name, CONTRACTS[code], "", path, lines[0], lines)
    lab.probe(path, lines)
    verdict = judge(lab, change, lab.original, "after")
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


def test_every_rule_is_seen_in_a_run_or_has_a_reason():
    for registered in all_rules():
        code = registered.rule.code
        assert code in SEEN or why_unseen(code) != "no oracle looks for it", code
    assert not any(code.startswith(prefix) for prefix in UNSEEN for code in SEEN)


def test_a_good_fixture_is_not_silent_for_want_of_running(driver):
    for fixture in GOOD[:10]:
        assert drive(driver, fixture).steps, fixture.name
