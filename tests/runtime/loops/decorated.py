"""The region as a decorator of forward, clip by value, RMSprop, module.zero_grad."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])

    @torch.autocast("cpu", dtype=torch.float16)
    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x


model = Model()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)
for _ in range(6):
    x = torch.randn(8, 6)
    model.zero_grad()
    loss = nn.functional.mse_loss(model(x).float(), -x)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_value_(model.parameters(), clip_value=0.1)
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
