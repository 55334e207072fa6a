"""Trains, saves model, optimizer and scaler, and goes on from the file."""

import os

import torch
from torch import nn

PATH = "checkpoint.pt"


def build():
    model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.01), torch.amp.GradScaler("cpu", init_scale=1024.0)


def train(model, optimizer, scaler, steps):
    for _ in range(steps):
        x = torch.randn(8, 5)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        print(loss.item())


model, optimizer, scaler = build()
if os.path.exists(PATH):
    print("resumed from an older run")
    model.load_state_dict(torch.load(PATH)["model"])
train(model, optimizer, scaler, 3)
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}
torch.save(state, PATH)

model, optimizer, scaler = build()
state = torch.load(PATH)
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
scaler.load_state_dict(state["scaler"])
train(model, optimizer, scaler, 3)
print(sum(p.double().sum().item() for p in model.parameters()))
