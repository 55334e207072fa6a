"""Old names, clip and GradScaler imported by name, an alias for the region."""

import warnings

import torch
from torch.cpu.amp import GradScaler
from torch.cpu.amp import autocast as ac
from torch.nn.utils.clip_grad import clip_grad_norm_ as clip

warnings.simplefilter("ignore")
model = torch.nn.Linear(5, 2)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
scaler = GradScaler(512.0)
for _ in range(6):
    x = torch.randn(7, 5)
    optimizer.zero_grad()
    with ac(dtype=torch.float16):
        loss = torch.nn.functional.mse_loss(model(x), x[:, :2])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    clip(model.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
