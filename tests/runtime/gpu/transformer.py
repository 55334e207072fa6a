"""A language model with accumulation over micro-batches, AdamW and scaled dot-product attention."""

import sys

import torch
from torch import nn

DTYPE = getattr(torch, sys.argv[1])
STEPS, WIDTH, BATCH = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
PARTS = 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(1000, WIDTH), nn.Embedding(128, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 1000)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device)
        hidden = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        return self.head(self.layers(hidden, mask=mask, is_causal=True))


def main():
    device = "cuda"
    model = Model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**12, enabled=DTYPE is torch.float16)
    for _ in range(STEPS):
        ids = torch.randint(0, 1000, (BATCH, 128), device=device)
        optimizer.zero_grad()
        for part in ids.chunk(PARTS):
            with torch.autocast(device, dtype=DTYPE):
                logits = model(part[:, :-1])
                loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), part[:, 1:].flatten())
            loss = loss / PARTS
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


main()
