"""A GAN in which each network has a scaler of its own and its own round."""

import torch
from torch import nn

net_g, net_d = nn.Linear(3, 2), nn.Linear(2, 1)
optim_g = torch.optim.SGD(net_g.parameters(), lr=0.01)
optim_d = torch.optim.SGD(net_d.parameters(), lr=0.01)
scaler_g = torch.amp.GradScaler("cpu", init_scale=256.0)
scaler_d = torch.amp.GradScaler("cpu", init_scale=2048.0)

for _ in range(6):
    noise = torch.randn(8, 3)
    optim_d.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss_d = (net_d(torch.randn(8, 2)) - net_d(net_g(noise).detach())).pow(2).mean()
    scaler_d.scale(loss_d).backward()
    scaler_d.step(optim_d)
    scaler_d.update()

    optim_g.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss_g = net_d(net_g(noise)).pow(2).mean()
    scaler_g.scale(loss_g).backward()
    scaler_g.step(optim_g)
    scaler_g.update()
    print(loss_d.item(), loss_g.item())
