"""A random row of a table: pandas draws it from NumPy's state."""

import numpy as np
import pandas as pd
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, count):
        self.table = pd.DataFrame({"value": np.arange(2**22)})
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        other = self.table.sample(1, replace=True)
        return index, float(other["value"].item())


def make_loader():
    return DataLoader(Pairs(16), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
