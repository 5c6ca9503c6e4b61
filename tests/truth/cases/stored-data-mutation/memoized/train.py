"""A function with `lru_cache` returns the same array each time, and the sample code edits it."""

import functools

import numpy as np
from torch.utils.data import DataLoader, Dataset


@functools.lru_cache(maxsize=None)
def load(index):
    return np.full(4, float(index + 1))


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = load(index)
        image *= 2
        return image


def make_loader():
    return DataLoader(Images(), batch_size=2, num_workers=0)


def stored(dataset):
    return np.stack([load(index) for index in range(len(dataset))])


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
