"""Convolutions with batch norm in bfloat16, and a scaler that a flag switches off for that dtype."""

import torch
from torch import nn

DTYPE = torch.bfloat16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(8 * 4 * 4, 5)

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=DTYPE is torch.float16)
    for _ in range(steps):
        images, labels = torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,))
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type="cpu", dtype=DTYPE):
            loss = nn.functional.cross_entropy(net(images), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), max_norm=2.0)
        scaler.step(optimizer)
        scaler.update()
        print(f"{loss.item():.6f}")


network = Net()
train(network, 6)
print(sum(p.double().abs().sum().item() for p in network.parameters()))
