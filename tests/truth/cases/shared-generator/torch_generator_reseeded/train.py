"""A torch.Generator that a method of the main process gives another seed."""

import torch
from torch.utils.data import DataLoader, Dataset


class Values(Dataset):
    def __init__(self):
        self.generator = torch.Generator()

    def manual_seed(self, seed):
        self.generator.manual_seed(seed)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, torch.rand((), generator=self.generator)


def make_loader():
    values = Values()
    values.manual_seed(3)
    return DataLoader(values, batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
