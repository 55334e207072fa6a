"""Frozen layers, an embedding, a cosine schedule by epoch, logging of the loss before scaling."""

import torch
from torch import nn

embedding, body, head = nn.Embedding(12, 6), nn.Linear(6, 6), nn.Linear(6, 3)
for parameter in body.parameters():
    parameter.requires_grad_(False)
model = nn.Sequential(embedding, body, nn.ReLU(), head)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for _epoch in range(3):
    running = 0.0
    for _ in range(3):
        tokens, labels = torch.randint(0, 12, (10,)), torch.randint(0, 3, (10,))
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(tokens), labels)
        running += loss.item()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    scheduler.step()
    print(running, scheduler.get_last_lr())
