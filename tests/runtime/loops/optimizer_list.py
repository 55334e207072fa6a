"""Several optimizers in a list, stepped in a loop, one of them fused."""

import torch
from torch import nn

backbone, head = nn.Linear(7, 14), nn.Linear(14, 1)
optimizers = [
    torch.optim.AdamW(backbone.parameters(), lr=1e-3, fused=True),
    torch.optim.SGD(head.parameters(), lr=1e-2, momentum=0.9, nesterov=True),
]
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for _ in range(6):
    x = torch.randn(5, 7)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.huber_loss(head(backbone(x).relu()), x[:, 2:3])
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    for optimizer in optimizers:
        optimizer.zero_grad()
    print(loss.item())
