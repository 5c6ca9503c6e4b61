"""The function that starts the workers is in another file."""

import random

import numpy as np
from torch.utils.data import ConcatDataset, DataLoader, Dataset

from seeding import worker_init_fn


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.random(), np.random.rand()


def make_loader():
    return DataLoader(ConcatDataset([Noise(), Noise()]), batch_size=2, num_workers=4, worker_init_fn=worker_init_fn)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
