"""The worker_init_fn gives the dataset of each worker a generator."""

import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise(Dataset):
    def __init__(self, length):
        self.length = length
        self.rng = np.random.default_rng()

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.rng.random()


def init_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


def make_loader():
    return DataLoader(Noise(16), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
