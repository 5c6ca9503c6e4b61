"""The loader has a worker_init_fn that does something else."""

import os

import numpy as np
from torch.utils.data import DataLoader, Dataset, Subset


class Noise(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return index, np.random.normal()


def quiet(worker_id):
    os.environ["WORKER"] = str(worker_id)


def make_loader():
    return DataLoader(Subset(Noise(), range(16)), batch_size=2, num_workers=4, worker_init_fn=quiet)


if __name__ == "__main__":
    for _, noise in make_loader():
        print(noise)
