"""No AMP at all; LBFGS with a closure, which a scaler could not serve."""

import torch

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4)
x = torch.randn(20, 3)
y = x @ torch.tensor([[1.0], [2.0], [3.0]])


def closure():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for _ in range(5):
    print(optimizer.step(closure).item())
