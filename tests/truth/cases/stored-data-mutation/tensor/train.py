"""A tensor of the dataset is scaled in place; the workers persist."""

import torch
from torch.utils.data import DataLoader, Dataset, Subset


class Signals(Dataset):
    def __init__(self, count):
        self.signals = torch.arange(4.0 * count).reshape(count, 4)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        signal.mul_(2.0)
        return signal


def make_loader():
    return DataLoader(Subset(Signals(10), range(8)), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return dataset.dataset.signals


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
