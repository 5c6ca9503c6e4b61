"""A helper of another module normalises what it is given; the workers persist."""

import torch
from torch.utils.data import DataLoader, Dataset

from normalise import centre


class Signals(Dataset):
    def __init__(self, signals):
        self.signals = signals

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        return centre(signal)


def make_loader():
    signals = torch.arange(32.0).reshape(8, 4)
    return DataLoader(Signals(signals), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return dataset.signals


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
