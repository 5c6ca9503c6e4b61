"""A generator of its own for each sample, made in the worker."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        rng = np.random.default_rng()
        return index, rng.random()


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
