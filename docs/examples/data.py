"""Made-up data: points in sixteen dimensions that belong to the nearer of four centres."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(samples: int, batch_size: int, seed: int, shuffle: bool) -> DataLoader:
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    labels = torch.randint(0, 4, (samples,), generator=generator)
    inputs = centres[labels] + torch.randn(samples, 16, generator=generator)
    return DataLoader(TensorDataset(inputs, labels), batch_size=batch_size, shuffle=shuffle, generator=generator)
