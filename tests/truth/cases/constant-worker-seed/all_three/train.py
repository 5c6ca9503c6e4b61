"""Each worker seeds all three sources of random numbers, in the order of many scripts."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return random.random(), np.random.rand(), torch.rand(())


def init_worker(worker_id):
    torch.manual_seed(42)
    np.random.seed(42)
    random.seed(42)


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
