"""A compiled model (the eager backend, which needs no C++ compiler)."""

import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)
    for _ in range(5):
        x = torch.randn(8, 8)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = compiled(x).square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        print(loss.item())
    print(sum(p.double().sum().item() for p in model.parameters()))


main()
