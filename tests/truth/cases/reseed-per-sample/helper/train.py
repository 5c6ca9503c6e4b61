"""A transform seeds through a helper."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from seeding import seed_everything


class Jitter:
    def __call__(self, value):
        seed_everything(7)
        return value + np.random.rand(), torch.rand(())


class Noise(Dataset):
    def __init__(self):
        self.jitter = Jitter()

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.jitter(0.0)


def make_loader():
    seed_everything(0)
    return DataLoader(Subset(Noise(), range(16)), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
