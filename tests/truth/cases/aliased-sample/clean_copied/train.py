"""The sample is a copy."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Chunks(Dataset):
    def __init__(self):
        self.chunks = np.ones((8, 4))

    def __len__(self):
        return len(self.chunks)

    def __getitem__(self, index):
        return self.chunks[index].copy(), self.chunks[index] * 2.0, torch.tensor(self.chunks[index])


def make_loader():
    return DataLoader(Chunks(), batch_size=None)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
