"""A generator that all instances of the class share."""

import random

from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Masked(Dataset):
    rng = random.Random(1234)

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.rng.random()


def make_loader():
    return DataLoader(ConcatDataset([Masked(8), Masked(8)]), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for _, mask in make_loader():
        print(mask)
