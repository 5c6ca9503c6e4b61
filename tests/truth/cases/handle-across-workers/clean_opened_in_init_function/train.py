"""The worker_init_fn opens the file in each worker."""

from pathlib import Path

import h5py
import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Images(Dataset):
    def __init__(self, path):
        self.path = path
        self.h5 = None
        with h5py.File(path, "r") as file:
            self.length = len(file["images"])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.h5["images"][index][0, 0]


def open_images(worker_id):
    dataset = get_worker_info().dataset
    dataset.h5 = h5py.File(dataset.path, "r")


def make_loader():
    path = Path("images.h5")
    if not path.exists():
        with h5py.File(path, "w") as file:
            file.create_dataset("images", data=np.arange(256).repeat(64).reshape(256, 8, 8))
    return DataLoader(Images(str(path)), batch_size=8, num_workers=4, worker_init_fn=open_images)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
