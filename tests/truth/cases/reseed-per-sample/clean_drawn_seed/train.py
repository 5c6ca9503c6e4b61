"""The seed is drawn for each sample, so that two transforms agree."""

import random

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        seed = np.random.randint(2147483647)
        random.seed(seed)
        image = random.random()
        random.seed(seed)
        mask = random.random()
        return image, mask


def make_loader():
    return DataLoader(Pairs(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
