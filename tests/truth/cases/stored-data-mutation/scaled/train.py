"""Samples are scaled in place, in the dataset's own array."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        sample = self.samples[index]
        sample *= 2.0
        return sample


def make_loader():
    samples = np.ones((8, 4), np.float32)
    return DataLoader(Scaled(samples), batch_size=2, num_workers=0)


def stored(dataset):
    return dataset.samples


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
