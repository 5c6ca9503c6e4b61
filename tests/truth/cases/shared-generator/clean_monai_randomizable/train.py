"""MONAI's loader gives a Randomizable a new state in each worker."""

import numpy as np
from monai.data import DataLoader
from monai.transforms import Randomizable
from torch.utils.data import Dataset


class Noisy(Dataset, Randomizable):
    def __init__(self, count):
        self.count = count
        self.R = np.random.RandomState(7)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.R.rand()


def plain(samples):
    return [samples]


def make_loader():
    return DataLoader(Noisy(16), num_workers=4, batch_size=2, collate_fn=plain)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
