"""Trains a model of a given kind, every other step unrecorded, and prints milliseconds of processor time.

Those of an unrecorded step, and how much more a recorded one takes than its neighbour: the mean of each block of
pairs, and of these the median.
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


class Block(nn.Module):
    """Two convolutions and what passes them by."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.body = nn.Sequential(first, nn.BatchNorm2d(outer), nn.ReLU(), second, nn.BatchNorm2d(outer))
        is_same = inner == outer and stride == 1
        self.short = nn.Identity() if is_same else nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, images):
        return nn.functional.relu(self.body(images) + self.short(images))


def many():
    return nn.Sequential(*(nn.Linear(8, 8) for _ in range(25))), torch.randn(4, 8)


def mlp():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)), torch.randn(64, 256)


def small_cnn():
    body = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10)), torch.randn(32, 3, 32, 32)


def resnet():
    """ResNet-20 on CIFAR images: 19 convolutions in three stages."""
    widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
    stem = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)
    return nn.Sequential(*stem, *(Block(*width) for width in widths), *head), torch.randn(32, 3, 32, 32)


def transformer():
    """As small as people train a language model of characters on a CPU."""
    return Encoder(), torch.randint(0, 100, (12, 64))


# One of 8 recorded steps has its parameters looked at, once 16 are over: every block has one.
BLOCK, WARM_UP = 8, 18

MODELS = {each.__name__: each for each in (many, mlp, small_cnn, resnet, transformer)}


def recorder():
    from amplint.runtime.record import Recorder

    return next(each for each in gc.get_objects() if type(each) is Recorder)


def main(kind, steps):
    model, data = MODELS[kind]()
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
    pairs = [after - before for before, after in zip(*(each[WARM_UP:] for each in times), strict=True)]
    blocks = [statistics.mean(pairs[start : start + BLOCK]) for start in range(0, len(pairs) - BLOCK + 1, BLOCK)]
    print(statistics.median(times[0][WARM_UP:]), statistics.median(blocks))


main(sys.argv[1], int(sys.argv[2]))
