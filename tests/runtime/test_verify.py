"""Repairs of planted mistakes are confirmed, wrong ones refuted, correct programs pass."""

import os

import pytest

from amplint.runtime.judge import judge, judge_script
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.oracles import scale_invariant
from amplint.runtime.verdict import Change, Conclusion, Verdict
from amplint.runtime.workshop import Conditions
from tests.runtime.driving import ALL, BY_NAME, Loop
from tests.runtime.planting import WITHOUT_SCALER, Planted, planted_in

CONTRACTS = {
    "AMP207": "intended",
    "AMP208": "intended",
    "AMP209": "bitwise",
    "AMP214": "bitwise",
    "AMP218": "intended",
    "AMP301": "intended",
    "AMP304": "intended",
    "AMP306": "intended",
    "AMP401": "bitwise",
}
"""Contracts of the rules that the mistakes belong to; `protocol` where none is given."""


def _verdict(driver, loop: Loop, bad: str, good: str | None, code: str, lines: tuple[int, ...]) -> Verdict:
    lab = Laboratory(driver, Conditions(loop.program))
    path = os.path.realpath(loop.code)
    lab.add("before", {path: bad})
    lab.add("after", {} if good is None else {path: good})
    lab.original = "before"
    change = Change(code, code, CONTRACTS.get(code, "protocol"), "", path, lines[0], lines)
    lab.probe(path, lines)
    return judge(lab, change, "before", "after")


def _cases() -> list[tuple[Loop, Planted]]:
    loops = [loop for loop in ALL if loop.name not in WITHOUT_SCALER]
    return [(loop, planted) for loop in loops for planted in planted_in(loop.code.read_text())]


CASES = _cases()
IN_CI = [case for case in CASES if case[0].name == "mlp"][::2] + [
    case for case in CASES if case[0].name == "accumulation"
][-5:]


def _name(case: tuple[Loop, Planted]) -> str:
    return f"{case[0].name}-{case[1].mistake}-{case[1].lines[0]}"


def _assert_confirmed(driver, loop: Loop, planted: Planted) -> None:
    verdict = _verdict(driver, loop, planted.text, planted.repaired, planted.codes[0], planted.lines)
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


@pytest.mark.parametrize(("loop", "planted"), IN_CI, ids=[_name(case) for case in IN_CI])
def test_a_repair_is_confirmed(driver, loop, planted):
    _assert_confirmed(driver, loop, planted)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("loop", "planted"), CASES, ids=[_name(case) for case in CASES])
def test_every_repair_is_confirmed(driver, loop, planted):
    _assert_confirmed(driver, loop, planted)


@pytest.mark.parametrize(
    "name", ["mlp", "gan", "accumulation", "penalty", "resume", "overflowing", "bfloat16", "float32", "recurrent"]
)
def test_a_correct_program_passes(driver, name):
    verdict = judge_script(Laboratory(driver, Conditions(BY_NAME[name].program)), "as it is")
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


@pytest.mark.exhaustive
@pytest.mark.parametrize("loop", ALL, ids=lambda loop: loop.name)
def test_every_correct_program_passes(driver, loop):
    verdict = judge_script(Laboratory(driver, Conditions(loop.program)), "as it is")
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


MLP = BY_NAME["mlp"]
GOOD = MLP.code.read_text()
CLIP = "        clip_grad_norm_(model.parameters(), 1.0)\n"
UNSCALE = "        scaler.unscale_(optimizer)\n"


def test_a_repair_that_changes_something_else_is_refuted(driver):
    bad = GOOD.replace(UNSCALE, "")
    wrong = GOOD.replace(CLIP, CLIP.replace("1.0", "2.0"))
    verdict = _verdict(driver, MLP, bad, wrong, "AMP201", (18,))
    assert verdict.conclusion is Conclusion.REFUTED
    assert "AMP off" in verdict.reason
    assert "step 1" in verdict.reason


def test_a_repair_that_repairs_nothing_is_refuted(driver):
    bad = GOOD.replace(UNSCALE, "")
    still_bad = GOOD.replace(UNSCALE, "").replace(CLIP, CLIP + UNSCALE)
    verdict = _verdict(driver, MLP, bad, still_bad, "AMP201", (18,))
    assert verdict.conclusion is Conclusion.REFUTED
    assert verdict.reason.startswith("indifferent to the scale: step ")


def test_a_repair_that_crashes_is_refuted(driver):
    verdict = _verdict(driver, MLP, GOOD.replace(UNSCALE, ""), GOOD.replace(UNSCALE, UNSCALE * 2), "AMP201", (18,))
    assert verdict.conclusion is Conclusion.REFUTED
    assert "unscale_() has already been called" in verdict.reason


def test_a_program_that_fails_anyway_refutes_no_migration(driver):
    failing = GOOD.replace("    main()\n", "    main()\n    raise ValueError('no disk')\n")
    verdict = _verdict(driver, MLP, failing, failing.replace("lr=0.05", "lr=5e-2"), "AMP401", (18,))
    assert verdict.conclusion is Conclusion.INCONCLUSIVE
    assert "with and without the fix" in verdict.reason


def test_a_migration_that_changes_numbers_is_refuted(driver):
    verdict = _verdict(driver, MLP, GOOD, GOOD.replace("lr=0.05", "lr=0.051"), "AMP401", (18,))
    assert verdict.conclusion is Conclusion.REFUTED
    assert "parameters (hash)" in verdict.reason or "loss" in verdict.reason


def test_parameters_that_part_in_the_last_step_refute_a_migration(driver):
    """The weights are changed where no later loss shows it, after a step whose parameters nobody hashes."""
    long = GOOD.replace("range(8)", "range(20)").replace(
        "        print(loss.item())\n",
        "        print(loss.item())\n    with torch.no_grad():\n        model[0].weight.mul_(1.0)\n",
    )
    verdict = _verdict(driver, MLP, long, long.replace("mul_(1.0)", "mul_(1.1)"), "AMP401", (18,))
    assert verdict.conclusion is Conclusion.REFUTED
    assert "parameters at the end (hash)" in verdict.reason


@pytest.mark.parametrize(
    ("name", "division"), [("accumulation", "loss / group"), ("accumulation_nested", "loss / parts")]
)
def test_a_loss_that_is_divided_twice_is_judged_by_its_gradient(driver, name, division):
    loop = BY_NAME[name]
    good = loop.code.read_text()
    bad, wrong = good.replace(division, f"{division} / {division.split()[-1]}"), good.replace(division, "loss")
    line = next(number for number, text in enumerate(good.splitlines(), 1) if division in text)
    right = _verdict(driver, loop, bad, None, "AMP306", (line,))
    assert right.conclusion is Conclusion.CONFIRMED, right
    refuted = _verdict(driver, loop, bad, wrong, "AMP306", (line,))
    assert refuted.conclusion is Conclusion.REFUTED
    assert refuted.reason.startswith("the accumulated gradient is the mean: step 1: norm")


def test_a_repair_that_cannot_be_shown_is_inconclusive(driver):
    one_step = GOOD.replace("range(8)", "range(1)")
    bad = one_step.replace("        scaler.update()\n", "")
    assert _verdict(driver, MLP, bad, one_step, "AMP202", (20,)).conclusion is Conclusion.INCONCLUSIVE


def test_code_that_did_not_run_is_not_exercised(driver):
    dead = GOOD.replace(
        "        print(loss.item())\n", "        print(loss.item())\n    if model is None:\n        model = 1\n"
    )
    line = dead.splitlines().index("        model = 1") + 1
    verdict = _verdict(driver, MLP, dead, dead.replace("model = 1", "model = 2"), "AMP401", (line,))
    assert verdict.conclusion is Conclusion.NOT_EXERCISED


def test_an_import_that_ran_is_exercised(driver):
    path = (2, 3, 4)
    good = GOOD.replace("from torch.amp import GradScaler, autocast", "from torch import GradScaler, autocast")
    assert _verdict(driver, MLP, GOOD, good, "AMP401", path).conclusion is Conclusion.CONFIRMED


TINY = """
import torch
weight = torch.nn.Parameter(torch.zeros(400))
optimizer = torch.optim.SGD([weight], lr=1e38)
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
for _ in range(3):
    a, b = torch.randn(400) * 1e-20, torch.randn(400) * 1e-20
    optimizer.zero_grad()
    scaler.scale((weight * a).mul(b).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
"""


def test_subnormal_gradients_are_no_refutation(driver, tmp_path):
    """At 1e-40 the float32 grid is so coarse that scaling cannot be exact: that says nothing about the program."""
    script = tmp_path / "train.py"
    script.write_text(TINY)
    program = Loop("tiny", script, script).program
    check = scale_invariant(Laboratory(driver, Conditions(program)), "as it is")
    assert check.has_passed is None
    assert "near the end of float32" in check.detail


def test_a_checkpoint_of_one_run_does_not_reach_the_next(driver):
    loop = BY_NAME["resume"]
    lab = Laboratory(driver, Conditions(loop.program))
    first, second = lab.run("as it is"), lab.run("again")
    assert "resumed from an older run" not in first.output + second.output
    assert first.output == second.output


def test_a_script_that_reads_relative_files_gets_its_directory(driver, tmp_path):
    from amplint.runtime.job import Program

    here = tmp_path / "here"
    (here / "runs").mkdir(parents=True)
    (here / "data.txt").write_text("3")
    (tmp_path / "beside.txt").write_text("4")
    script = here / "train.py"
    script.write_text("import sys\nprint(open(sys.argv[1]).read())\nopen('runs/new', 'x')\n")
    for name, text, words in (("data.txt", "3\n", "links to what lies there"), ("../beside.txt", "4\n", "share that")):
        lab = Laboratory(driver, Conditions(Program(str(script), False, (name,), str(here), str(here))))
        assert lab.run("as it is").output == text
        assert words in lab.notes[0]
        assert (here / "runs/new").exists() is (name == "../beside.txt")
