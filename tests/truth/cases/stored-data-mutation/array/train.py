"""The emphasis of high frequencies is computed in place, in the dataset's own array."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, count):
        self.samples = np.ones((count, 16), np.float32)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        sample = self.samples[index]
        sample[1:] -= 0.97 * sample[:-1]
        return sample


def make_loader():
    return DataLoader(Recordings(8), batch_size=2, num_workers=0)


def stored(dataset):
    return dataset.samples


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
