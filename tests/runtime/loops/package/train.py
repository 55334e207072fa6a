"""Started as a module, with relative imports, argparse and a DataLoader with workers."""

import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

from .net import build


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    return parser.parse_args()


def train_one_epoch(model, loader, optimizer, scaler):
    for x, y in loader:
        with torch.autocast("cpu", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        print(loss.item())


def main():
    args = arguments()
    torch.manual_seed(7)
    data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=args.workers)
    model = build(args.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(args.epochs):
        train_one_epoch(model, loader, optimizer, scaler)
        scheduler.step()


if __name__ == "__main__":
    main()
