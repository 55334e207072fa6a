"""Four micro-batches a step, and a last group that is smaller."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

model = nn.Sequential(nn.Linear(5, 20), nn.GELU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
data = [(torch.randn(4, 5), torch.randn(4, 1)) for _ in range(18)]
every = 4

optimizer.zero_grad()
for i, (x, y) in enumerate(data):
    group = min(every, len(data) - i // every * every)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    loss = loss / group
    scaler.scale(loss).backward()
    if (i + 1) % every == 0 or i + 1 == len(data):
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        print(i, loss.item())
print(sum(p.double().sum().item() for p in model.parameters()))
