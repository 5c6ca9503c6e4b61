"""MONAI's loader reseeds what has `set_random_state`; a plain generator on the dataset has none."""

import numpy as np
from monai.data import DataLoader
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __init__(self, count):
        self.count = count
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.rng.random()


def plain(samples):
    return [samples]


def make_loader():
    return DataLoader(Noisy(16), num_workers=4, batch_size=2, collate_fn=plain)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
