"""Two networks, two optimizers, one scaler, one update an iteration."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
bce = nn.BCEWithLogitsLoss()


def discriminate(real, fake):
    with torch.autocast("cpu", dtype=torch.float16):
        good, bad = critic(real), critic(fake.detach())
        return bce(good, torch.ones_like(good)) + bce(bad, torch.zeros_like(bad))


for _ in range(6):
    real, noise = torch.randn(16, 2) + 2, torch.randn(16, 4)
    with torch.autocast("cpu", dtype=torch.float16):
        fake = generator(noise)
    opt_d.zero_grad()
    loss_d = discriminate(real, fake)
    scaler.scale(loss_d).backward()
    scaler.step(opt_d)
    opt_g.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        verdict = critic(fake)
        loss_g = bce(verdict, torch.ones_like(verdict))
    scaler.scale(loss_g).backward()
    scaler.step(opt_g)
    scaler.update()
    print(loss_d.item(), loss_g.item())
print(sum(p.double().sum().item() for net in (generator, critic) for p in net.parameters()))
