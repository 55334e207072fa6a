"""A convolutional GAN: two networks, two optimizers, one scaler."""

import sys

import torch
from torch import nn

DTYPE = getattr(torch, sys.argv[1])
STEPS, WIDTH, BATCH = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


def generator():
    layers = [nn.ConvTranspose2d(64, 4 * WIDTH, 4), nn.BatchNorm2d(4 * WIDTH), nn.ReLU()]
    layers += [nn.ConvTranspose2d(4 * WIDTH, 2 * WIDTH, 4, 2, 1), nn.BatchNorm2d(2 * WIDTH), nn.ReLU()]
    layers += [nn.ConvTranspose2d(2 * WIDTH, WIDTH, 4, 2, 1), nn.BatchNorm2d(WIDTH), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1), nn.Tanh())


def critic():
    layers = [nn.Conv2d(3, WIDTH, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(2 * WIDTH, 1, 8), nn.Flatten())


def main():
    device = "cuda"
    net_g, net_d = generator().to(device), critic().to(device)
    opt_g = torch.optim.Adam(net_g.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(net_d.parameters(), lr=2e-4, betas=(0.5, 0.999))
    scaler = torch.amp.GradScaler(device, init_scale=2.0**10, enabled=DTYPE is torch.float16)
    judge = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        real = torch.randn(BATCH, 3, 32, 32, device=device)
        noise = torch.randn(BATCH, 64, 1, 1, device=device)
        with torch.autocast(device, dtype=DTYPE):
            fake = net_g(noise)
            good, bad = net_d(real), net_d(fake.detach())
            loss_d = judge(good, torch.ones_like(good)) + judge(bad, torch.zeros_like(bad))
        opt_d.zero_grad()
        scaler.scale(loss_d).backward()
        scaler.step(opt_d)
        opt_g.zero_grad()
        with torch.autocast(device, dtype=DTYPE):
            verdict = net_d(fake)
            loss_g = judge(verdict, torch.ones_like(verdict))
        scaler.scale(loss_g).backward()
        scaler.step(opt_g)
        scaler.update()


main()
