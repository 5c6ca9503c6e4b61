"""MONAI's loader with a worker_init_fn that does other things: MONAI's own is not called."""

import numpy as np
import torch
from monai.data import DataLoader
from monai.transforms import RandGaussianNoise
from torch.utils.data import Dataset


class Volumes(Dataset):
    def __init__(self):
        self.noise = RandGaussianNoise(prob=1.0)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, float(self.noise(np.zeros((1, 1), np.float32)).sum())


def init_worker(worker_id):
    torch.set_num_threads(1)


def make_loader():
    return DataLoader(Volumes(), num_workers=4, batch_size=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
