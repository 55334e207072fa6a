"""A generator and a discriminator that share one scaler."""

import torch
from torch import nn

generator = nn.Linear(8, 16).cuda()
discriminator = nn.Linear(16, 1).cuda()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
scaler = torch.amp.GradScaler("cuda")


def train_step(real):
    noise = torch.randn(len(real), 8, device="cuda")
    ones = torch.ones(len(real), 1, device="cuda")
    zeros = torch.zeros(len(real), 1, device="cuda")

    optimizer_d.zero_grad()
    with torch.autocast("cuda"):
        fake = generator(noise)
        loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    scaler.scale(loss_d).backward()
    scaler.step(optimizer_d)

    optimizer_g.zero_grad()
    with torch.autocast("cuda"):
        loss_g = criterion(discriminator(fake), ones)
        scaler.scale(loss_g).backward()
    optimizer_g.step()
    scaler.update()
    return loss_d.item(), loss_g.item()
