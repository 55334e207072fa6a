"""A small encoder with AdamW, parameter groups and a schedule that waits for applied steps."""

import torch
from torch import nn


def groups(model):
    decayed = [p for p in model.parameters() if p.ndim > 1]
    other = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decayed, "weight_decay": 0.1}, {"params": other, "weight_decay": 0.0}]


def main():
    embedding = nn.Embedding(20, 16)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    model = nn.Sequential(embedding, nn.TransformerEncoder(layer, 2), nn.Linear(16, 20))
    optimizer = torch.optim.AdamW(groups(model), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (1 + step))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14)
    for _ in range(6):
        tokens = torch.randint(0, 20, (4, 7))
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(logits.reshape(-1, 20), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            schedule.step()
        print(loss.item(), norm.item(), schedule.get_last_lr())


if __name__ == "__main__":
    main()
