"""The threads are set in the main process, at module level and in the constructor: torch sets one in each worker."""

import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(2)


class Volumes(Dataset):
    def __init__(self):
        torch.set_num_threads(2)
        self.total = torch.ones(2000, 2000).sum()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.full((2000, 2000), float(index)).sum() + self.total


def make_loader():
    return DataLoader(Volumes(), num_workers=2)


if __name__ == "__main__":
    for total in make_loader():
        print(total)
