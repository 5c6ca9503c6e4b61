"""Python's and torch's random numbers, which every torch seeds in its workers; NumPy's only in the main process."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, length):
        self.order = np.random.permutation(length)

    def __len__(self):
        return len(self.order)

    def __getitem__(self, index):
        return self.order[index], random.random(), torch.rand(())


def make_loader():
    return DataLoader(Noise(16), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
