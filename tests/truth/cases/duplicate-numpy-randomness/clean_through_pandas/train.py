"""A random row of a table, drawn with a seed made of the index and of the seed of the worker."""

import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, count):
        self.table = pd.DataFrame({"value": range(1000 * count)})
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        other = self.table.sample(1, random_state=(torch.initial_seed() + index) % 2**32)
        return index, float(other["value"].item())


def make_loader():
    return DataLoader(Pairs(16), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
