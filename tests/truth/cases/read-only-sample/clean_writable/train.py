"""Memory that can be written: a bytearray, a shared array, a mapping that copies on write."""

import multiprocessing
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Writable(Dataset):
    def __init__(self, path, shared):
        self.rows = np.load(path, mmap_mode="c")
        self.shared = shared

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = torch.from_numpy(self.rows[index])
        buffer = torch.from_numpy(np.frombuffer(bytearray(16), np.uint8))
        return row, buffer, torch.from_numpy(np.frombuffer(self.shared, np.float32))


def make_loader():
    path = Path(tempfile.mkdtemp()) / "rows.npy"
    np.save(path, np.ones((8, 16), np.float32))
    return DataLoader(Writable(path, multiprocessing.RawArray("f", 8)), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(len(batch))
