"""The first sample makes the generator, and the main process takes that sample."""

import random

from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = None

    def __len__(self):
        return 32

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = random.Random()
        return index, self.rng.random()


def make_loader():
    dataset = Noisy()
    print("first sample:", dataset[0])
    return DataLoader(dataset, batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
