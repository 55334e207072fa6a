"""Written for a GPU only: every way to name the device."""

import torch
from torch.cuda.amp import GradScaler, autocast

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.cuda.manual_seed_all(1)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU()).cuda()
head = torch.nn.Linear(12, 1, device="cuda").to(device)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
scaler = GradScaler(init_scale=1024.0)
for _ in range(6):
    x = torch.randn(8, 6, device=device)
    y = torch.zeros(8, 1).cuda(non_blocking=True)
    optimizer.zero_grad()
    with autocast():
        loss = torch.nn.functional.mse_loss(head(model(x)), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_([*model.parameters(), *head.parameters()], 1.0)
    scaler.step(optimizer)
    scaler.update()
    torch.cuda.synchronize()
    print(loss.item(), x.device.type, torch.cuda.max_memory_allocated() >= 0)
