"""A torch.Generator on the dataset."""

import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Dropped(Dataset):
    def __init__(self, length):
        self.length = length
        self.generator = torch.Generator()
        self.generator.manual_seed(5)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, torch.rand((), generator=self.generator)


def make_loader():
    train, _ = random_split(Dropped(20), [16, 4])
    return DataLoader(train, batch_size=2, num_workers=4)


if __name__ == "__main__":
    for _, mask in make_loader():
        print(mask)
