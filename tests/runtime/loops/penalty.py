"""A gradient penalty, with the scaled gradients divided by the scale before their norm is taken."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)

for _ in range(6):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), x[:, :1])
    scaled = torch.autograd.grad(scaler.scale(loss), list(model.parameters()), create_graph=True)
    inverse = 1.0 / scaler.get_scale()
    gradients = [g * inverse for g in scaled]
    with torch.autocast("cpu", dtype=torch.float16):
        norm = sum(g.pow(2).sum() for g in gradients).sqrt()
        loss = loss + 0.1 * norm
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
print(sum(p.double().sum().item() for p in model.parameters()))
