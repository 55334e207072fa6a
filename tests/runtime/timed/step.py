"""Trains a model of a given kind, every other step unrecorded, and prints milliseconds of processor time.

Those of the fastest tenth of the unrecorded steps, how much more the fastest recorded ones take, and the median
difference of neighbours.
"""

import gc
import statistics
import sys
import time
from contextlib import nullcontext

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(128, 100)

    def forward(self, tokens):
        return self.head(self.layers(self.embedding(tokens)))


def many():
    return nn.Sequential(*(nn.Linear(8, 8) for _ in range(25))), torch.randn(4, 8)


def mlp():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)), torch.randn(64, 256)


def cnn():
    body = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10)), torch.randn(32, 3, 32, 32)


def transformer():
    return Encoder(), torch.randint(0, 100, (8, 64))


def recorder():
    from amplint.runtime.record import Recorder

    return next(each for each in gc.get_objects() if type(each) is Recorder)


def main(kind, steps):
    model, data = {"many": many, "mlp": mlp, "cnn": cnn, "transformer": transformer}[kind]()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    hooks = recorder()
    times = ([], [])
    for step in range(steps):
        with nullcontext() if step % 2 else hooks:
            start = time.process_time()
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(data).float().square().mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            times[step % 2].append((time.process_time() - start) * 1e3)
    quiet, watched = (fastest(each[3:]) for each in times)
    pairs = statistics.median(b - a for a, b in zip(times[0][3:], times[1][3:], strict=True))
    print(quiet, watched - quiet, pairs)


def fastest(times):
    tenth = sorted(times)[: max(1, len(times) // 10)]
    return sum(tenth) / len(tenth)


main(sys.argv[1], int(sys.argv[2]))
