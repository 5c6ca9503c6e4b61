"""Named tuples, numbers by name, texts and ranges can be batched."""

import enum
from collections import OrderedDict, namedtuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

Pair = namedtuple("Pair", "image label")


class Split(enum.IntEnum):
    TRAIN = 0


class Row(dict):
    pass


class Samples(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        x = torch.zeros(3)
        return Pair(x, 1), Split.TRAIN, OrderedDict(a=x), Row(a=x), index > 3, range(2), "text", np.zeros(2)


def make_loader():
    return DataLoader(Samples(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
