"""Each worker makes its generator at its first sample, from the seed of the dataset."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, seed):
        self.seed = seed
        self.rng = None

    def __len__(self):
        return 32

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng(self.seed)
        return index, self.rng.random()


def make_loader():
    return DataLoader(Noisy(3), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
