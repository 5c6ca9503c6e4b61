"""Five ways to bring the seed below 2**32."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.rand()


def init_worker(worker_id):
    np.random.seed((torch.initial_seed() + worker_id) % 2**32)
    np.random.seed(torch.initial_seed() & 0xFFFFFFFF)
    np.random.seed(torch.initial_seed() // 2**32 + worker_id)
    np.random.seed([worker_id, get_worker_info().seed >> 32])
    np.random.seed(get_worker_info().seed % (1 << 32))


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
