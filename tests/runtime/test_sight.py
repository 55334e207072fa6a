"""What a program prints about itself is what it prints without the tool: places of warnings, tracebacks, stacks."""

import subprocess
import sys

import pytest

from amplint.runtime.job import Detail
from tests.runtime.driving import Loop, run

TALKATIVE = """
import logging
import sys
import traceback
import warnings

import torch

sys.stderr = sys.stdout
warnings.simplefilter("default")
logging.basicConfig(stream=sys.stdout)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)


def step():
    optimizer.zero_grad()
    scaler.scale(model(torch.ones(3, 4)).square().mean()).backward()
    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)
    schedule.step()
    scaler.step(optimizer)
    scaler.update()


step()
schedule.step(3)
torch.nn.utils.clip_grad_norm_((each for each in []), 1.0)
(torch.ones(2, requires_grad=True) * 2).grad
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    (torch.ones(2, requires_grad=True) * 2).grad
    schedule.step(4)
print([(each.filename, each.lineno) for each in caught])
try:
    scaler.update()
except AssertionError:
    traceback.print_exc()
try:
    model(torch.ones(3, 4)).backward()
except RuntimeError:
    logging.exception("no scalar")
"""


@pytest.mark.parametrize("detail", [Detail.EVENTS, Detail.FULL])
def test_warnings_and_tracebacks_show_the_programs_own_frames(driver, tmp_path, detail):
    path = tmp_path / "train.py"
    path.write_text(TALKATIVE)
    plain = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=100)
    watched = run(driver, Loop("talkative", path, path), detail=detail)
    assert watched.trace.outcome.is_clean, watched.trace.outcome.traceback
    assert plain.stdout.count("Warning") >= 4
    assert watched.output == plain.stdout
    assert "amplint/runtime" not in watched.output
