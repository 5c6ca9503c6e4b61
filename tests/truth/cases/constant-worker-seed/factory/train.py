"""A function that makes the worker_init_fn."""

import random

import numpy as np
from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.random(), np.random.rand()


def seeder(seed):
    def init_worker(worker_id):
        np.random.seed(seed)
        random.seed(seed)

    return init_worker


def make_loader():
    return DataLoader(ConcatDataset([Noise(), Noise()]), batch_size=2, num_workers=4, worker_init_fn=seeder(1))


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
