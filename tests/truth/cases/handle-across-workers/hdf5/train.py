"""Images in an HDF5 file; the length is read in `__init__`."""

from pathlib import Path

import h5py
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, path):
        self.path = path
        self.h5 = h5py.File(self.path, "r")
        self.length = len(self.h5["images"])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.h5["images"][index][0, 0]


def make_loader():
    path = Path("images.h5")
    if not path.exists():
        with h5py.File(path, "w") as file:
            images = np.arange(256).repeat(64).reshape(256, 8, 8)
            file.create_dataset("images", data=images, chunks=(1, 8, 8), compression="gzip")
    return DataLoader(Images(str(path)), batch_size=8, num_workers=4)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
