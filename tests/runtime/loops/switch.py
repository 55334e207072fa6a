"""One loop for AMP on and off, by the arguments of scaler and region."""

import sys

import torch


def main(use_amp):
    model = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=use_amp)
    for _ in range(6):
        x, y = torch.randn(9, 8), torch.randint(0, 3, (9,))
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16, enabled=use_amp):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
        scaler.step(optimizer)
        scaler.update()
        print(loss.item())


main("--no-amp" not in sys.argv)
