"""Correct loops are silent; a planted mistake is named by its code, at its line."""

import re
import textwrap

import pytest

from tests.runtime.driving import ALL, BY_NAME, Loop, run
from tests.runtime.planting import MISTAKES, WITHOUT_SCALER, Planted, planted_in


def _cases() -> list[tuple[Loop, Planted]]:
    loops = [loop for loop in ALL if loop.name not in WITHOUT_SCALER]
    return [(loop, planted) for loop in loops for planted in planted_in(loop.code.read_text())]


CASES = _cases()
FEW = CASES[::9]


def _name(case: tuple[Loop, Planted]) -> str:
    return f"{case[0].name}-{case[1].mistake}-{case[1].lines[0]}"


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
    assert {planted.mistake for _, planted in FEW} >= {"drop_unscale", "drop_update", "step_around"}


TRAINING_IN_ONE_REGION = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
with torch.autocast("cpu", dtype=torch.float16):
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(3, 4)).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)  # AMP402
        scaler.update()
"""

ONE_OBJECT_TWICE = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
region = torch.autocast("cpu", dtype=torch.bfloat16)
for _ in range(3):
    optimizer.zero_grad()
    with region:
        with region:  # AMP411
            loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
"""

LEFT_ON = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.autocast("cpu", dtype=torch.bfloat16).__enter__()  # AMP906
for _ in range(2):
    optimizer.zero_grad()
    model(torch.randn(3, 4)).square().mean().backward()
    optimizer.step()  # AMP402
"""

NEVER_ENTERED = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    torch.autocast("cpu", dtype=torch.bfloat16)  # AMP403
    model(torch.randn(3, 4)).square().mean().backward()
    optimizer.step()
"""

NOT_FINITE = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(40):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean() * float("nan")
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # AMP902
    scaler.update()  # AMP901
"""

SCHEDULED_BLINDLY = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
for _ in range(6):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(torch.randn(3, 4)).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()  # AMP601
"""

BFLOAT16_SCALED = TRAINING_IN_ONE_REGION.replace("float16", "bfloat16").replace("256.0)", "256.0)  # AMP502")

FLOAT16_UNSCALED = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):  # AMP503
        loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
"""

STARVED = FLOAT16_UNSCALED.replace("mean()", "mean() * 1e-7").replace("optimizer.step()", "optimizer.step()  # AMP903")

BROKEN = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(3):
    optimizer.zero_grad()
    scaler.scale(model(torch.randn(3, 4)).square().mean() * (float("inf") if i else 1.0)).backward()
    scaler.unscale_(optimizer)
    optimizer.step()  # AMP203 # AMP904
    scaler.update()
"""

BROKEN_LATE = BROKEN.replace("range(3)", "range(21)").replace("if i else", "if i > 19 else")

# The optimizer is gone when the program ends, and its last step was not one that is looked at.
BROKEN_IN_A_FUNCTION = "def train():\n" + textwrap.indent(BROKEN_LATE, "    ") + "train()\n"

SKIPPED_WITHOUT_UPDATE = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(4):
    optimizer.zero_grad()
    scaler.scale(model(torch.randn(3, 4)).square().mean()).backward()
    scaler.unscale_(optimizer)  # AMP212
    if i == 1:
        continue
    scaler.step(optimizer)
    scaler.update()
"""

NEVER_STEPPED = """
import torch
model, other = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
forgotten = torch.optim.SGD(other.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(6):
    optimizer.zero_grad()
    forgotten.zero_grad()
    scaler.scale(other(model(torch.randn(3, 4))).square().mean()).backward()
    scaler.unscale_(forgotten)
    scaler.step(optimizer)
    scaler.update()  # AMP213
"""

WITHOUT_GRADIENTS = """
import torch
model, idle = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (model, idle)]
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(2):
    scaler.scale(model(torch.randn(3, 4)).square().mean()).backward()
    scaler.step(optimizers[0])
    scaler.step(optimizers[1])  # AMP905
    scaler.update()
"""

UNSCALED_HALF = NEVER_STEPPED.replace("  # AMP213", "").replace(
    "    scaler.step(optimizer)\n",
    "    torch.nn.utils.clip_grad_norm_([*model.parameters(), *other.parameters()], 1.0)  # AMP216\n"
    "    scaler.step(optimizer)\n    scaler.step(forgotten)\n",
)

OF_ANOTHER = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
same = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(6):
    optimizer.zero_grad()
    scaler.scale(model(torch.randn(3, 4)).square().mean()).backward()
    scaler.unscale_(optimizer)
    scaler.step(same)  # AMP216
    scaler.update()
"""

SCALED_PENALTY = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    grads = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)  # AMP215
    loss = loss + sum(g.square().sum() for g in grads)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""

SINGLE = {
    name: text for name, text in list(globals().items()) if isinstance(text, str) and name.isupper() and "# AMP" in text
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_mistake_of_its_own_shape_is_named(driver, tmp_path, name):
    text = SINGLE[name]
    lines = enumerate(text.splitlines(), 1)
    wanted = {(code, number) for number, line in lines for code in re.findall(r"# (AMP\d+)", line)}
    path = tmp_path / "train.py"
    path.write_text(text)
    result = run(driver, Loop(name, path, path))
    assert {(each.code, each.site.line) for each in result.trace.sightings} == wanted, result.trace.outcome


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
