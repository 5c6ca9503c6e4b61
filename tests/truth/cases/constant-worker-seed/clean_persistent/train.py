"""The workers persist, so that a seed of their own is drawn on from in every epoch."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.rand()


def init_worker(worker_id):
    np.random.seed(1000 + worker_id)


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=init_worker, persistent_workers=True)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
