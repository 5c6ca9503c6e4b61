"""Generators that a method of the base class makes, and that a default argument is."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Seeded(Dataset):
    def __init__(self, seed, noise=np.random.default_rng(7)):
        self.seed = seed
        self.noise = noise
        self._reset()

    def _reset(self):
        self._rng = np.random.RandomState(self.seed + 1)


class Jittered(Seeded):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self._rng.rand(), self.noise.random()


def make_loader():
    return DataLoader(Jittered(1234), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for jitter, noise in make_loader():
        print(jitter, noise)
