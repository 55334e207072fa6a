"""Activation checkpointing, both kinds: their backwards nest."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

blocks = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(3)])
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)
for step in range(6):
    x = torch.randn(6, 8, requires_grad=True)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        hidden = x
        for block in blocks:
            hidden = checkpoint(block, hidden, use_reentrant=step % 2 == 0)
        loss = hidden.float().square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(blocks.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
