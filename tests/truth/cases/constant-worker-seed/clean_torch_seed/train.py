"""The recipe of PyTorch's own notes on randomness."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return random.random(), np.random.rand(), torch.rand(())


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def make_loader():
    generator = torch.Generator()
    generator.manual_seed(0)
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=seed_worker, generator=generator)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
