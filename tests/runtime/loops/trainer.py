"""A trainer class: the parts of an iteration in different methods, a base class with the hooks."""

import contextlib

import torch


class Base:
    def __init__(self, model, use_amp=True):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8192.0) if use_amp else None

    def region(self):
        return torch.autocast("cpu", dtype=torch.float16) if self.scaler is not None else contextlib.nullcontext()

    def backward(self, loss):
        if self.scaler is None:
            loss.backward()
        else:
            self.scaler.scale(loss).backward()

    def apply(self):
        if self.scaler is None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            return
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()


class Trainer(Base):
    def run(self, steps):
        for _ in range(steps):
            x = torch.randn(6, 5)
            self.optimizer.zero_grad()
            with self.region():
                loss = torch.nn.functional.mse_loss(self.model(x), x.flip(1))
            self.backward(loss)
            self.apply()
            yield loss.item()


for value in Trainer(torch.nn.Sequential(torch.nn.Linear(5, 9), torch.nn.ReLU(), torch.nn.Linear(9, 5))).run(7):
    print(value)
