"""Accumulation with an inner loop over the micro-batches of a batch, division inside scale()."""

import torch

model = torch.nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
parts = 3


def micro_loss(chunk):
    with torch.autocast("cpu", dtype=torch.float16):
        return torch.nn.functional.smooth_l1_loss(model(chunk), chunk[:, :2])


for _ in range(5):
    batch = torch.randn(12, 6)
    optimizer.zero_grad()
    for chunk in batch.chunk(parts):
        loss = micro_loss(chunk)
        scaler.scale(loss / parts).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
print([p.double().sum().item() for p in model.parameters()])
