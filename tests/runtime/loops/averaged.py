"""An exponential average of the weights beside the training, gradients logged after unscaling."""

import copy

import torch

model = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.ReLU(), torch.nn.Linear(10, 1))
average = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for _ in range(6):
    x = torch.randn(8, 5)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norms = [p.grad.norm().item() for p in model.parameters()]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
            slow.lerp_(fast, 0.1)
    print(loss.item(), sum(norms))
print(sum(p.double().sum().item() for p in average.parameters()))
