"""Arrays of an .npz file. `np.load` keeps it open, and reads an array of it each time."""

import os
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Arrays(Dataset):
    def __init__(self, folder):
        self.path = Path(folder) / "arrays.npz"
        self.arrays = np.load(self.path)
        self.names = sorted(self.arrays.files)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return index, int(self.arrays[self.names[index]][0])


def write_arrays(path):
    written = path.with_stem(f"written_by_{os.getpid()}")
    np.savez(written, **{f"{number:04}": np.full(20_000, number) for number in range(256)})
    written.replace(path)


def make_loader():
    path = Path("arrays.npz")
    if not path.exists():
        write_arrays(path)
    return DataLoader(Arrays("."), batch_size=16, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
