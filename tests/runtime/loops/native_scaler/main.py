"""The loop of a wrapper scaler that lives in a second file."""

import torch
from wrapper import NativeScaler

model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
loss_scaler = NativeScaler()
for step in range(8):
    samples, targets = torch.randn(10, 6), torch.randint(0, 2, (10,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(samples), targets)
    loss = loss / 2
    loss_scaler(loss, optimizer, clip=1.0, parameters=model.parameters(), need_update=(step + 1) % 2 == 0)
    if (step + 1) % 2 == 0:
        optimizer.zero_grad()
    print(loss.item())
