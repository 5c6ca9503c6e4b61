"""A set has no order."""

import torch
from torch.utils.data import DataLoader, Dataset


class Tagged(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.zeros(3), {"a", "b"}


def make_loader():
    return DataLoader(Tagged(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
