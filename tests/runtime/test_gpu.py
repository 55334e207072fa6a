"""The suite on CUDA: `pytest -m gpu`, from a plain checkout, with whatever torch (2.3 or later) the machine has.

Where there is no GPU every test says so and is skipped. Verdicts go to `amplint-gpu.json` in the working directory.
The three loops in `gpu/` also run on the CPU at a small size, so that the suite itself is known to work.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from amplint.runtime.drive import Driver
from amplint.runtime.job import Program
from amplint.runtime.judge import judge, judge_script
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.verdict import Change, Conclusion, Verdict
from amplint.runtime.workshop import Conditions
from amplint.runtime.worth import measure_worth
from tests.runtime.driving import ALL, LOOPS, Loop
from tests.runtime.planting import WITHOUT_SCALER, planted_in
from tests.runtime.test_verify import CONTRACTS

RESULT = Path("amplint-gpu.json")
GPU = Path(__file__).parent / "gpu"
REAL = {"cnn": (40, 128, 64), "transformer": (40, 512, 64), "gan": (60, 96, 128)}
"""Steps, width and batch size of the real loops on a GPU."""

SMALL = {"cnn": (3, 8, 2), "transformer": (3, 16, 4), "gan": (3, 4, 4)}
NOT_ON_CUDA = ("distributed", "package", "native_scaler", "hard_coded_cuda", "float32", "checkpointed")
"""Loops that bring their own devices or processes."""

ON_CUDA = [loop for loop in ALL if loop.name not in NOT_ON_CUDA]


@pytest.fixture(scope="module")
def log() -> Iterator[list[dict[str, Any]]]:
    entries: list[dict[str, Any]] = []
    yield entries
    if entries:
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
        head = {"device": device, "torch": torch.__version__, "cuda": torch.version.cuda}
        RESULT.write_text(json.dumps(head | {"results": entries}, indent=1))


@pytest.fixture
def cuda() -> None:
    if not torch.cuda.is_available():
        pytest.skip("not run on a GPU: torch finds none here")


def _on_cuda(text: str, dtype: str) -> str:
    """A loop of the CPU suite for CUDA. Lines keep their numbers."""
    text = text.replace('"cpu"', '"cuda"').replace("torch.cpu.amp", "torch.cuda.amp").replace("float16", dtype)
    if dtype == "bfloat16":
        text = re.sub(r"(GradScaler\((?:(?!enabled)[^()])*)\)", r"\1, enabled=False)", text)
    return 'import torch; torch.set_default_device("cuda"); ' + text


def _laboratory(driver: Driver, loop: Loop, text: str) -> Laboratory:
    lab = Laboratory(driver, Conditions(loop.program, device="cuda"))
    lab.add("good", {os.path.realpath(loop.code): text})
    lab.original = "good"
    return lab


def _record(log: list[dict[str, Any]], name: str, verdict: Verdict, **more: Any) -> None:
    checks = [[check.name, check.has_passed, check.detail] for check in verdict.checks]
    log.append({"name": name, "conclusion": verdict.conclusion, "reason": verdict.reason, "checks": checks} | more)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("loop", ON_CUDA, ids=lambda loop: loop.name)
def test_a_correct_loop_passes(cuda, driver, log, loop, dtype):
    lab = _laboratory(driver, loop, _on_cuda(loop.code.read_text(), dtype))
    verdict = judge_script(lab, "good")
    _record(log, f"{loop.name} {dtype}", verdict)
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


@pytest.mark.gpu
@pytest.mark.parametrize("loop", [each for each in ON_CUDA if each.name in ("mlp", "accumulation", "gan")], ids=str)
def test_planted_mistakes_are_named_and_repairs_confirmed(cuda, driver, log, loop):
    if loop.name in WITHOUT_SCALER:
        return
    lab = _laboratory(driver, loop, _on_cuda(loop.code.read_text(), "float16"))
    path = os.path.realpath(loop.code)
    wrong = []
    for planted in planted_in(loop.code.read_text()):
        name = f"{planted.mistake} {planted.lines[0]}"
        lab.add(name, {path: _on_cuda(planted.text, "float16")})
        lab.add("repaired", {path: _on_cuda(planted.repaired or loop.code.read_text(), "float16")})
        seen = {(each.code, each.site.line) for each in lab.trace(name).sightings}
        contract = CONTRACTS.get(planted.codes[0], "protocol")
        change = Change(planted.codes[0], planted.mistake, contract, "", path, planted.lines[0], planted.lines)
        verdict = judge(lab, change, name, "repaired" if planted.repaired else "good")
        is_named = bool(seen & {(code, line) for code in planted.codes for line in planted.lines})
        _record(log, f"{loop.name} {name}", verdict, seen=sorted(seen), is_named=is_named)
        if not is_named or verdict.conclusion is not Conclusion.CONFIRMED:
            wrong.append((name, sorted(seen), verdict.reason))
    assert not wrong


def _real(name: str, dtype: str, sizes: tuple[int, int, int]) -> Program:
    arguments = (dtype, *map(str, sizes))
    return Program(str(GPU / f"{name}.py"), False, arguments, str(LOOPS), str(GPU))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", REAL)
def test_a_real_loop_passes_and_is_measured(cuda, driver, log, name, dtype):
    lab = Laboratory(driver, Conditions(_real(name, dtype, REAL[name]), device="cuda"))
    verdict = judge_script(lab, lab.original)
    worth = measure_worth(lab, lab.original)
    assert worth is not None
    _record(log, f"real {name} {dtype}", verdict, worth=worth.rows())
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict


@pytest.mark.parametrize("name", ["gan", pytest.param("transformer", marks=pytest.mark.exhaustive), "cnn"])
def test_a_real_loop_passes_on_the_cpu_at_a_small_size(driver, name):
    """Retargeted: it says so, and that nothing was run on a GPU."""
    lab = Laboratory(driver, Conditions(_real(name, "bfloat16", SMALL[name])))
    verdict = judge_script(lab, lab.original)
    assert verdict.conclusion is Conclusion.CONFIRMED, verdict
    assert lab.trace(lab.original).summary["retargeted"][0] == "The program names CUDA; it was run on the CPU instead."


def test_every_loop_can_be_written_for_cuda():
    for loop in ON_CUDA:
        for dtype in ("float16", "bfloat16"):
            compile(_on_cuda(loop.code.read_text(), dtype), loop.name, "exec")
