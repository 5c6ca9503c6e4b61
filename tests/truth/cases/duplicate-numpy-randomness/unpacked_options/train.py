"""The loader unpacks a dict that the code fills, and that holds no worker_init_fn."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

COMMON = {"batch_size": 2, "pin_memory": False}


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, np.random.normal()


def make_loader():
    options = {"num_workers": 4}
    if torch.cuda.is_available():
        options.update({"prefetch_factor": 4})
    return DataLoader(Noise(), **COMMON, **options)


if __name__ == "__main__":
    for _, noise in make_loader():
        print(noise)
