"""A recurrent network with truncated sequences and clipping, bfloat16 outside of the cell."""

import torch
from torch import nn

cell, head = nn.GRUCell(4, 8), nn.Linear(8, 4)
parameters = list(cell.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(parameters, lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for _ in range(6):
    sequence, state, total = torch.randn(5, 3, 4), torch.zeros(3, 8), 0.0
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.float16):
        for t in range(4):
            state = cell(sequence[t], state.to(torch.float16))
            total = total + nn.functional.mse_loss(head(state), sequence[t + 1])
    loss = total / 4
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(parameters, 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(loss.item())
