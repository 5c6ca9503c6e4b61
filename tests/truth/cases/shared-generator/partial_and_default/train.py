"""Generators that are bound to a transform, and that a function has by default."""

from functools import partial

import numpy as np
from torch.utils.data import DataLoader, Dataset


def jitter(value, rng):
    return value + rng.standard_normal()


def scale(value, low=0.5, rng=np.random.RandomState(7)):
    """Uniform above `low`."""
    return value * (low + draw(rng))


def draw(generator):
    return generator.rand()


class Values(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self.transform(0.0), scale(1.0)


def make_loader():
    return DataLoader(Values(partial(jitter, rng=np.random.default_rng(1))), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
