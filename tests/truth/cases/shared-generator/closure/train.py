"""The functions that make transforms give each a generator of its own, the two of one seed."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def make_jitter(seed):
    rng = np.random.default_rng(seed)

    def jitter(value):
        return value + rng.standard_normal()

    return jitter


def make_flip():
    dice = random.Random()
    noise = torch.Generator().manual_seed(5)
    return lambda value: (value if dice.random() < 0.5 else -value, torch.rand((), generator=noise))


class Values(Dataset):
    def __init__(self):
        self.first = make_jitter(1234)
        self.second = make_jitter(1234)
        self.flip = make_flip()

    def __len__(self):
        return 16

    def __getitem__(self, index):
        _, noise = self.flip(1.0)
        return self.first(0.0), self.second(0.0), noise


def make_loader():
    return DataLoader(Values(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
