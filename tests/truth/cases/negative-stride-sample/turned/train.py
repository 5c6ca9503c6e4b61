"""Tiles are turned by a helper, by a number of quarters that depends on the tile."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from turns import turned


class Tiles(Dataset):
    def __init__(self, count):
        self.tiles = np.random.default_rng(0).random((count, 4, 4))

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        return torch.as_tensor(turned(self.tiles[index], random.randint(0, 3)))


def make_loader():
    return DataLoader(Tiles(32), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch.shape)
