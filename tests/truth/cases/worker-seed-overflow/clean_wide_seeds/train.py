"""What takes seeds of any width."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        rng = np.random.default_rng((torch.initial_seed(), index))
        return random.random(), rng.random(), np.random.rand()


def init_worker(worker_id):
    random.seed(torch.initial_seed())
    words = np.random.SeedSequence(torch.initial_seed())
    np.random.seed(words.generate_state(4))


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
