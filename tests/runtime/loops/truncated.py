"""Backpropagation through time, cut after a few steps: one backward for each stretch, the state handed on."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, words=30, width=16):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, state):
        outputs = []
        for step in tokens.unbind(1):
            state = self.cell(self.embedding(step), state)
            outputs.append(self.head(state))
        return torch.stack(outputs, 1), state


def fit(reader, text, length=5):
    optimizer = torch.optim.SGD(reader.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    state = torch.zeros(len(text), 16)
    position = 0
    while position + length < text.shape[1]:
        stretch = text[:, position : position + length]
        target = text[:, position + 1 : position + length + 1]
        reader.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            state = state.detach().float()
        with torch.autocast("cpu", dtype=torch.float16):
            logits, state = reader(stretch, state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), target.flatten())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(reader.parameters(), 0.25)
        scaler.step(optimizer)
        scaler.update()
        print(position, loss.item(), norm.item())
        position += length


if __name__ == "__main__":
    model = Reader()
    fit(model, torch.randint(0, 30, (4, 51)))
    print(sum(p.double().abs().sum().item() for p in model.parameters()))
