"""A generator that is made in the worker, the old kind."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self):
        self.rng = None

    def __len__(self):
        return 16

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.RandomState(torch.initial_seed())
        return index, self.rng.rand()


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
