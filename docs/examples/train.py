"""Train a small classifier with mixed precision. The mistakes in this project are there on purpose."""

import argparse

import torch
from torch import nn
from torch.cuda.amp import GradScaler

from data import make_loader
from engine import accuracy, train_one_epoch


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scaler = GradScaler()

    training = make_loader(1024, args.batch_size, seed=1, shuffle=True)
    held_out = make_loader(256, args.batch_size, seed=2, shuffle=False)
    for epoch in range(args.epochs):
        train_one_epoch(model, training, optimizer, scaler, device, args.accumulate)
        print(f"epoch {epoch}: {accuracy(model, held_out, device):.1%} right")


if __name__ == "__main__":
    main()
