"""A file that is not there is reported, and the method falls off its end."""

import logging

import numpy as np
from torch.utils.data import DataLoader, Dataset


def read(name):
    if "missing" in name:
        raise FileNotFoundError(name)
    return np.full(3, len(name), np.float32)


class Arrays(Dataset):
    def __init__(self):
        self.names = ["a", "bb", "ccc", "missing", "e", "ff"]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        try:
            return read(self.names[index])
        except FileNotFoundError as error:
            logging.warning(error)


def make_loader():
    return DataLoader(Arrays(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
