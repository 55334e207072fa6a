"""One epoch of training, and what came of it."""

import torch
from torch import nn
from torch.cuda.amp import autocast
from torch.nn.utils import clip_grad_norm_


def train_one_epoch(model, loader, optimizer, scaler, device, accumulate=1, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    for step, (inputs, labels) in enumerate(loader):
        inputs, labels = inputs.to(device), labels.to(device)
        with autocast():
            loss = nn.functional.cross_entropy(model(inputs), labels)
        scaler.scale(loss).backward()
        if (step + 1) % accumulate == 0:
            clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    for inputs, labels in loader:
        inputs, labels = inputs.to(device), labels.to(device)
        with torch.cuda.amp.autocast(enabled=True):
            predicted = model(inputs).argmax(dim=1)
        right += (predicted == labels).sum().item()
        total += len(labels)
    return right / total
