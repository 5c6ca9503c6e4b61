"""A dataclass is no dictionary."""

from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset


@dataclass
class Sample:
    values: torch.Tensor


class Samples(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return Sample(torch.zeros(3))


def make_loader():
    return DataLoader(Samples(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
