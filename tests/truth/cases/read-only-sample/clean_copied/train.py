"""What cannot be written is copied, or converted, before a tensor is made in its memory."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.load(path, mmap_mode="r")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        raw = row.tobytes()
        arrays = [
            row.copy(),
            np.array(row),
            row.astype(np.float64),
            row / 2.0,
            self.rows[[index, 0]],
            np.frombuffer(raw, np.float32) + 1.0,
        ]
        return [torch.from_numpy(array).mul_(2.0) for array in arrays], torch.tensor(row), float(row[0])


def make_loader():
    path = Path(tempfile.mkdtemp()) / "rows.npy"
    np.save(path, np.ones((8, 16), np.float32))
    return DataLoader(Rows(path), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(len(batch[0]))
