"""Fine-tuning by low rank: frozen weights, small factors beside them, mixed batches, a teacher, a running average."""

import copy

import torch
from torch import nn
from torch.nn.functional import cross_entropy, kl_div, one_hot


class LowRank(nn.Module):
    def __init__(self, frozen, rank=2):
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, frozen.in_features) * 0.1)
        self.up = nn.Parameter(torch.zeros(frozen.out_features, rank))

    def forward(self, x):
        return self.frozen(x) + x @ self.down.T @ self.up.T


base = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
teacher = copy.deepcopy(base).eval()
student = nn.Sequential(LowRank(base[0]), nn.ReLU(), LowRank(base[2]))
average = torch.optim.swa_utils.AveragedModel(student, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
trained = [each for each in student.parameters() if each.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=0.02)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**11)
every, micro = 2, 0
for step in range(12):
    x, y = torch.randn(6, 8), one_hot(torch.randint(0, 4, (6,)), 4).float()
    share = torch.rand(()).item()
    mixed, labels = share * x + (1 - share) * x.flip(0), share * y + (1 - share) * y.flip(0)
    with torch.autocast("cpu", dtype=torch.float16):
        with torch.no_grad():
            wanted = teacher(mixed).float().softmax(-1)
        logits = student(mixed)
        logits = logits.float()
        divergence = kl_div(logits.log_softmax(-1), wanted, reduction="batchmean")
        loss = cross_entropy(logits, labels) + 0.5 * divergence
        loss = loss / 2
    scaler.scale(loss).backward()
    if (step + 1) % every == 0:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(trained, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        average.update_parameters(student)
        print(step, loss.item())
print(sum(p.double().abs().sum().item() for p in average.parameters()))
