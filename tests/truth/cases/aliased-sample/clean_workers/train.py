"""What a worker sends is a copy."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Chunks(Dataset):
    def __init__(self):
        self.chunks = np.ones((8, 4))

    def __len__(self):
        return len(self.chunks)

    def __getitem__(self, index):
        return self.chunks[index]


def make_loader():
    return DataLoader(Chunks(), batch_size=None, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
