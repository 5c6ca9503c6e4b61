"""One generator for the module."""

import random

import numpy as np
from torch.utils.data import DataLoader, Dataset

RNG = np.random.default_rng(0)
FLIPS = random.Random(3)


def augment(value):
    return value + RNG.standard_normal()


class Values(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return augment(0.0), FLIPS.random()


def make_loader():
    return DataLoader(Values(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
