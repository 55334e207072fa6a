"""A while loop over an iterator, try and finally, a batch that is skipped before its backward."""

import torch


def batches():
    for i in range(9):
        yield torch.full((4, 3), float("nan")) if i == 4 else torch.randn(4, 3)


def main():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    source, done = batches(), 0
    try:
        while True:
            x = next(source, None)
            if x is None:
                break
            with torch.autocast("cpu", dtype=torch.float16):
                loss = model(x).square().mean()
            if not torch.isfinite(loss):
                continue
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            scaler.step(optimizer)
            scaler.update()
            done += 1
            print(loss.item())
    finally:
        print(done, sum(p.double().sum().item() for p in model.parameters()))


if __name__ == "__main__":
    main()
