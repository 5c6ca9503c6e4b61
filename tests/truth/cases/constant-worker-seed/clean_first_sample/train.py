"""The dataset seeds with its first sample, from torch's seed."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self):
        self.seeded = False

    def __len__(self):
        return 16

    def __getitem__(self, index):
        if not self.seeded:
            np.random.seed(torch.initial_seed() % 2**32)
            self.seeded = True
        return index, np.random.rand()


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
