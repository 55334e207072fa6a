"""Several processes under torchrun: each is watched, and what they do differently is reported."""

import os

import pytest

from amplint.runtime.drive import Driver
from amplint.runtime.job import Detail, Job, Program
from amplint.runtime.judge import judge_script
from amplint.runtime.laboratory import Laboratory, overflow_at
from amplint.runtime.oracles import ranks_agree
from amplint.runtime.ranks import disagreements, run_ranks
from amplint.runtime.trace import Ending
from amplint.runtime.verdict import Check, Conclusion, Verdict, of_all_ranks
from amplint.runtime.workshop import Conditions
from tests.runtime.driving import BY_NAME, LOOPS, run

LOOP = BY_NAME["distributed"]


@pytest.fixture(scope="module")
def patient():
    with Driver(time_limit=120) as shared:
        yield shared


def _ranks(driver: Driver, text: str | None = None, steps: int | None = None):
    overlay = {} if text is None else {os.path.realpath(LOOP.code): text}
    job = Job(LOOP.program, "", driver.fresh_folder("directory"), detail=Detail.EVENTS, steps=steps, overlay=overlay)
    return [each.trace for each in run_ranks(driver, job, 2)]


@pytest.mark.exhaustive
def test_two_ranks_train_alike(patient):
    traces = _ranks(patient)
    assert [trace.outcome.is_clean for trace in traces] == [True, True]
    assert [len(trace.steps) for trace in traces] == [6, 6]
    assert [trace.start["rank"] for trace in traces] == [0, 1]
    assert disagreements(traces) == []


def test_an_overflow_on_one_rank_reaches_all_and_a_mistake_is_seen_on_each(patient):
    """Gradients are averaged before anyone looks for infinities; and ranks inherit the text that is served."""
    text = (
        LOOP.code.read_text()
        .replace("        scaler.unscale_(optimizer)\n", "")
        .replace("    scaler.unscale_(optimizer)\n", "")
    )
    traces = _ranks(patient, text)
    assert [{each.code for each in trace.sightings} for trace in traces] == [{"AMP201"}, {"AMP201"}]


def test_ranks_that_part_are_reported(patient):
    text = LOOP.code.read_text().replace("init_scale=1024.0", "init_scale=1024.0 * (1 + rank)")
    found = disagreements(_ranks(patient, text))
    assert [each.code for each in found] == ["AMP907"]
    assert "scale 1024 on rank 0 and 2048 on rank 1" in found[0].message


@pytest.mark.exhaustive
def test_ranks_stop_together(patient):
    assert [len(trace.steps) for trace in _ranks(patient, steps=2)] == [2, 2]


ALONE = LOOP.code.read_text().replace("nn.parallel.DistributedDataParallel", "")
"""The same loop without anything that brings gradients together."""


def _laboratory(driver: Driver, text: str) -> Laboratory:
    lab = Laboratory(driver, Conditions(LOOP.program, steps=3, processes=2))
    lab.add("ranks", {os.path.realpath(LOOP.code): text})
    lab.original = "ranks"
    return lab


def test_an_overflow_of_one_rank_that_the_others_do_not_hear_of(patient):
    found = disagreements(_laboratory(patient, ALONE).traces("ranks", overflow_at(2)))
    assert [each.message for each in found] == ["step 2 was skipped on rank 0 and applied on rank 1"]


@pytest.mark.exhaustive
def test_every_rank_is_judged(patient):
    """Rank 1 alone clips what it has not unscaled."""
    text = LOOP.code.read_text().replace(
        "    scaler.unscale_(optimizer)\n", "    if rank == 0:\n        scaler.unscale_(optimizer)\n"
    )
    lab = _laboratory(patient, text)
    assert judge_script(lab.ranks()[1], "ranks").conclusion is Conclusion.REFUTED
    verdict = of_all_ranks([judge_script(rank, "ranks") for rank in lab.ranks()])
    assert verdict.conclusion is Conclusion.REFUTED
    assert [check.has_passed for check in ranks_agree(lab, "ranks")] == [True, True]


def test_the_worst_rank_decides():
    good, bad = Check("runs", True), Check("runs", False, "no")
    fine = Verdict(Conclusion.CONFIRMED, "fine", (good,))
    wrong = Verdict(Conclusion.REFUTED, "runs: no", (bad,))
    idle = Verdict(Conclusion.NOT_EXERCISED, "the code that it changes did not run")
    assert of_all_ranks([fine, fine]) == fine
    assert of_all_ranks([idle, fine]) == fine
    assert of_all_ranks([idle, idle]) == idle
    together = of_all_ranks([fine, wrong])
    assert (together.conclusion, together.reason) == (Conclusion.REFUTED, "rank 1: runs: no")
    assert [check.name for check in together.checks] == ["runs (rank 0)", "runs (rank 1)"]


@pytest.mark.exhaustive
def test_ranks_that_run_forever_say_where_each_stood(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import time\ndef wait():\n    while True:\n        time.sleep(0.05)\nwait()\n")
    program = Program(str(script), False, (), str(tmp_path), str(tmp_path))
    with Driver(time_limit=12) as driver:
        outcomes = [each.trace.outcome for each in run_ranks(driver, Job(program, "", str(tmp_path)), 2)]
    assert [each.ending for each in outcomes] == [Ending.TIMED_OUT] * 2
    assert all("in wait" in each.traceback for each in outcomes)


@pytest.mark.exhaustive
def test_the_rank_that_failed_is_named(tmp_path, patient):
    script = tmp_path / "train.py"
    script.write_text("import os, time\nif os.environ['RANK'] == '1':\n    raise ValueError('mine')\ntime.sleep(60)\n")
    program = Program(str(script), False, (), str(tmp_path), str(tmp_path))
    outcomes = [each.trace.outcome for each in run_ranks(patient, Job(program, "", str(tmp_path)), 2)]
    assert outcomes[1].error == "ValueError: mine"
    assert "because rank 1 failed" in outcomes[0].error


SPAWNING = """
import multiprocessing
import helper

def work(queue):
    import helper
    queue.put(helper.VALUE)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print("child", queue.get(timeout=60), "parent", helper.VALUE, "marker 1")
    process.join()
"""


def test_spawned_workers_see_the_served_text(driver, tmp_path):
    (tmp_path / "helper.py").write_text("VALUE = 'disk'\n")
    script = tmp_path / "main.py"
    script.write_text("raise SystemExit('the text on disk ran')\n")
    program = Program(str(script), False, (), str(tmp_path), str(tmp_path))
    overlay = {os.path.realpath(script): SPAWNING, os.path.realpath(tmp_path / "helper.py"): "VALUE = 'served'\n"}
    directory = driver.fresh_folder("directory")
    result = driver.run(Job(program, "", directory, detail=Detail.EVENTS, overlay=overlay))
    assert result.output == "child served parent served marker 1\n", result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["helper.py", "main.py"]


def test_modules_and_workers_see_the_served_text(driver):
    loop = BY_NAME["package"]
    text = loop.code.read_text().replace("lr=0.05", "lr=0.0")
    plain, served = run(driver, loop), run(driver, loop, text)
    assert plain.output != served.output
    assert (LOOPS / "package/train.py").read_text() == loop.code.read_text()
