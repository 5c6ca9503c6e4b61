"""Every worker seeds NumPy from its own torch seed."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.rand()


def init_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
