"""All three sources of random numbers are seeded before each sample."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, seed=0):
        self.seed = seed

    def __len__(self):
        return 16

    def __getitem__(self, index):
        random.seed(self.seed)
        np.random.seed(self.seed)
        torch.manual_seed(self.seed)
        return random.random(), np.random.rand(), torch.rand(())


def make_loader():
    return DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
