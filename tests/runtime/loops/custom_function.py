"""A custom autograd function with the decorators that autocast needs."""

import torch


class Cube(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (x @ weight) ** 3

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        inner = grad * 3 * (x @ weight) ** 2
        return inner @ weight.t(), x.t() @ inner


weight = torch.nn.Parameter(torch.randn(4, 4) * 0.1)
layer = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD([weight, *layer.parameters()], lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(6):
    x = torch.randn(6, 4)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = torch.nn.functional.mse_loss(Cube.apply(layer(x).float(), weight), x)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
