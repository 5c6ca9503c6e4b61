"""The seed that torch gives the worker, handed to NumPy and Python."""

import random

import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return random.random(), np.random.rand()


def init_worker(worker_id):
    seed = get_worker_info().seed
    random.seed(seed)
    np.random.seed(seed)


def make_loader():
    return DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
