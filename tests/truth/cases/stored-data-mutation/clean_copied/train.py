"""What is changed is a copy: by name, by arithmetic, by a list of indices, by another type."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        copied = self.samples[index].copy()
        copied *= 2.0
        computed = self.samples[index] * 2.0
        computed -= 1.0
        gathered = self.samples[[index, 0]]
        gathered += 1.0
        converted = self.samples[index].astype(np.float64)
        converted[converted > 0] = 0.0
        return copied, computed, gathered, converted


def make_loader():
    samples = np.ones((8, 4), np.float32)
    return DataLoader(Scaled(samples), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return dataset.samples


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
