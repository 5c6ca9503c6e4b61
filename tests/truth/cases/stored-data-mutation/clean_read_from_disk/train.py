"""Each sample is read from the disk, changed, and given away."""

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        sample = np.load(self.paths[index])
        sample -= sample.mean()
        sample[sample < 0] = 0.0
        tensor = torch.from_numpy(sample)
        tensor.mul_(2.0)
        return tensor


def make_loader():
    paths = []
    for number in range(8):
        path = Path(f"sample{number}.npy")
        if not path.exists():
            np.save(path, np.arange(4.0) * number)
        paths.append(path)
    return DataLoader(Samples(paths), batch_size=2, num_workers=0)


def stored(dataset):
    return [np.load(path) for path in dataset.paths]


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
