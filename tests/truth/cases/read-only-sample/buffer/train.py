"""Records of a file that is read as bytes."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with open(self.path, "rb") as file:
            file.seek(index * 16)
            raw = file.read(16)
        return torch.from_numpy(np.frombuffer(raw, np.uint8).reshape(4, 4))


def make_loader():
    path = Path(tempfile.mkdtemp()) / "records.bin"
    path.write_bytes(bytes(range(128)))
    return DataLoader(Records(path), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch.shape)
