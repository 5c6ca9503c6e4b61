"""No workers: one process draws for all."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.rand()


def make_loader():
    return DataLoader(Noise(), batch_size=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
