"""A residual network on images, channels last, with warm-up by applied steps."""

import sys

import torch
from torch import nn

DTYPE = getattr(torch, sys.argv[1])
STEPS, WIDTH, BATCH = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(2)])

    def forward(self, x):
        hidden = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(x + self.norms[1](self.second(hidden)))


def main():
    device = "cuda"
    blocks = [Block(WIDTH) for _ in range(6)]
    stem = nn.Conv2d(3, WIDTH, 3, padding=1)
    model = nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTH, 100))
    model = model.to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    scaler = torch.amp.GradScaler(device, init_scale=2.0**12, enabled=DTYPE is torch.float16)
    for _ in range(STEPS):
        images = torch.randn(BATCH, 3, 64, 64, device=device).to(memory_format=torch.channels_last)
        labels = torch.randint(0, 100, (BATCH,), device=device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=DTYPE):
            loss = nn.functional.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            schedule.step()


main()
