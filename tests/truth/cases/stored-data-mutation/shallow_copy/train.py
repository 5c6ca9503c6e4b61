"""The copy of a record holds the record's own array."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, count):
        self.samples = [{"boxes": np.ones(4), "number": number} for number in range(count)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        sample = self.samples[index].copy()
        sample["boxes"] *= 2
        return sample["boxes"]


def make_loader():
    return DataLoader(Boxes(8), batch_size=2, num_workers=0)


def stored(dataset):
    return np.stack([sample["boxes"] for sample in dataset.samples])


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
