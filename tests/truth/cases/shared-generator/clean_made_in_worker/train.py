"""Generators that are made where they are drawn from, and one that only `__init__` uses."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, length, seed):
        rng = np.random.default_rng(seed)
        self.order = rng.permutation(length)

    def __len__(self):
        return len(self.order)

    def __getitem__(self, index):
        rng = np.random.default_rng()
        own = random.Random(torch.randint(2**62, ()).item())
        return self.order[index], rng.random(), own.random()


def make_loader():
    return DataLoader(Noise(16, seed=0), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
