"""The seed is the worker's number: no two workers draw alike, but every epoch is the first one again."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.rand()


def init_worker(worker_id):
    seed = 1000 + worker_id
    np.random.seed(seed)


def make_loader():
    return DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
