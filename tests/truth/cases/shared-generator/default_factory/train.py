"""Dataclasses whose generators are made with the object, by a lambda and by a function."""

import random
from dataclasses import dataclass, field

import numpy as np
from torch.utils.data import DataLoader, Dataset


@dataclass
class Jitter:
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    def __call__(self, value):
        return value + self.rng.random()


@dataclass
class Values(Dataset):
    transform: Jitter
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self.transform(0.0), self.rng.standard_normal()


def make_loader():
    return DataLoader(Values(Jitter()), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
