"""The main process has a constant seed; the workers derive theirs from it."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return random.random(), np.random.rand(), torch.rand(())


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def make_loader():
    seed_everything(0)
    return DataLoader(Noise(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
