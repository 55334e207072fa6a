"""A variational autoencoder: reconstruction and divergence in one loss, samples drawn inside the region."""

import torch
from torch import nn
from torch.amp import GradScaler, autocast


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.Tanh())
        self.mean, self.log_variance = nn.Linear(24, 3), nn.Linear(24, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 12))

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        sample = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(sample), mean, log_variance


def loss_of(x, output):
    image, mean, log_variance = (each.float() for each in output)
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1).mean()
    return nn.functional.mse_loss(image, x) + 0.1 * divergence


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scaler = GradScaler("cpu", init_scale=2.0**12, growth_interval=3)
data = torch.randn(40, 12)
for epoch in range(2):
    for batch in data.split(8):
        optimizer.zero_grad(set_to_none=True)
        with autocast("cpu", dtype=torch.float16):
            output = model(batch)
        loss = loss_of(batch, output)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
    print(epoch, loss.item())
print(sum(p.double().abs().sum().item() for p in model.parameters()))
