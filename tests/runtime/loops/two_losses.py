"""Two losses, each scaled and propagated on its own, one step."""

import torch
from torch import nn

trunk, first, second = nn.Linear(6, 10), nn.Linear(10, 1), nn.Linear(10, 2)
parameters = [*trunk.parameters(), *first.parameters(), *second.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.02)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(6):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        hidden = trunk(x).relu()
        loss_a = nn.functional.l1_loss(first(hidden), x[:, :1])
        loss_b = nn.functional.mse_loss(second(hidden), x[:, :2])
    scaler.scale(loss_a).backward(retain_graph=True)
    scaler.scale(loss_b).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(parameters, 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(loss_a.item(), loss_b.item())
