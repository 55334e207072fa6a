"""Small programs with one mistake each, of shapes that planting does not make; comments name the code and its line."""

import textwrap

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

SOFT_LABELS = """
import torch
from torch.nn.functional import cross_entropy
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(3):
    optimizer.zero_grad()
    for part in range(2):
        targets = torch.softmax(torch.randn(6, 3), 1)
        loss = cross_entropy(model(torch.randn(6, 4)), targets)
        scaler.scale(loss).backward()  # AMP301
    scaler.step(optimizer)
    scaler.update()
"""

CLASS_WEIGHTS = SOFT_LABELS.replace("targets)\n", "targets, weight=torch.tensor([1.0, 2.0, 3.0]))\n")

SMOOTHED_LABELS = SOFT_LABELS.replace("torch.softmax(torch.randn(6, 3), 1)", "torch.tensor([0, 1, 2] * 2)").replace(
    "targets)\n", "targets, label_smoothing=0.1)\n"
)

DISTILLED = SOFT_LABELS.replace(
    "cross_entropy(model(torch.randn(6, 4)), targets)",
    "torch.nn.functional.kl_div(model(torch.randn(6, 4)).log_softmax(1), targets, reduction='batchmean')",
)

TWO_TERMS = SOFT_LABELS.replace("targets)\n", "targets) + 0.1 * model.weight.square().mean()\n")

DISTILLED_UNSCALED = DISTILLED.replace("scaler.scale(loss).backward()", "loss.backward()").replace(
    "    scaler.step(optimizer)\n    scaler.update()\n", "    optimizer.step()\n"
)

MIXED_ELSEWHERE = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i in range(3):
    optimizer.zero_grad()
    total = scaler.scale(model(torch.randn(3, 4)).square().mean())
    total = total + 0.01 * sum(p.square().sum() for p in model.parameters())  # AMP217
    total.backward()
    scaler.step(optimizer)
    scaler.update()
"""

MIXED_IN_PLACE = MIXED_ELSEWHERE.replace("total = total + 0.01 *", "total += 0.01 *")

MIXED_ONCE = (
    MIXED_ELSEWHERE.replace("  # AMP217", "")
    .replace("range(3)", "range(1)")
    .replace("total.backward()", "total.backward()  # AMP217")
)

SINGLE = {
    name: text for name, text in list(globals().items()) if isinstance(text, str) and name.isupper() and "# AMP" in text
}
