"""Parts of a tensor, in a tuple."""

import torch
from torch.utils.data import DataLoader, Dataset


class Chunks(Dataset):
    def __init__(self):
        self.chunks = torch.ones(8, 4)

    def __len__(self):
        return len(self.chunks)

    def __getitem__(self, index):
        return self.chunks[index : index + 2], self.chunks[index].view(2, 2)


def make_loader():
    return DataLoader(Chunks(), batch_size=None)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
