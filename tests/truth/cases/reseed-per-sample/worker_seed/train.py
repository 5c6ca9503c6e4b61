"""torch's seed of the worker is the same from the first sample of an epoch to the last."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        np.random.seed(torch.initial_seed() % 2**32)
        return index, np.random.rand()


def make_loader():
    return DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
