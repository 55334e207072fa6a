"""What a trace holds: events as often as they are wanted, parameters often at first and seldom later."""

from dataclasses import replace

from amplint.runtime.experiment import conduct
from amplint.runtime.job import Detail, Job, Kept
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.oracles import overflow_number
from amplint.runtime.trace import Kind
from amplint.runtime.workshop import Conditions
from tests.runtime.driving import BY_NAME, Loop, run


def _traces(driver, name):
    job = Job(BY_NAME[name].program, "", driver.fresh_folder("directory"), detail=Detail.FULL)
    return [driver.run(replace(job, kept=kept)).trace for kept in (Kept.EVERYTHING, Kept.PLACES, Kept.NOTHING)]


def test_the_first_event_of_each_place_says_where_the_program_was(driver):
    everything, places, nothing = _traces(driver, "gan")
    known = [(event.kind, event.site) for event in places.events]
    assert len(known) == len(set(known)) < len(everything.events)
    assert set(known) == {(event.kind, event.site) for event in everything.events}
    assert nothing.events == []
    assert places.sightings == everything.sightings == []


def test_steps_count_the_calls_of_scale(driver):
    everything, places, _ = _traces(driver, "accumulation")
    calls, counts = 0, []
    for event in everything.events:
        calls += event.kind is Kind.SCALE
        if event.kind is Kind.STEPPED:
            counts.append(calls)
    assert [step.scales for step in places.steps] == counts
    assert overflow_number(places) == next(count for count in counts if count > 1)


def test_parameters_are_hashed_often_then_seldom_then_last(driver, tmp_path):
    path = tmp_path / "train.py"
    path.write_text(BY_NAME["mlp"].code.read_text().replace("range(8)", "range(30)"))
    trace = run(driver, Loop("long", path, path), detail=Detail.FULL).trace
    hashed = [number for number, step in enumerate(trace.steps) if step.parameters is not None]
    assert hashed == [*range(17), 24]
    (last,) = trace.summary["parameters"].values()
    assert last not in {step.parameters for step in trace.steps}
    assert all(step.norm is not None and step.loss is not None for step in trace.steps)


def test_an_experiment_says_why_nothing_was_stepped(driver, tmp_path):
    path = tmp_path / "train.py"
    path.write_text("import sys\nsys.exit('no data')\n")
    lab = Laboratory(driver, Conditions(Loop("exits", path, path).program))
    result = conduct(lab, [], lab.original)
    assert not result.is_runnable
    assert result.script is not None
    assert result.script.reason == "the program left with an exit status (no data) before its first optimizer step"
