"""A stream that never ends."""

import itertools

from torch.utils.data import DataLoader, IterableDataset


class Endless(IterableDataset):
    def __init__(self, numbers):
        self.numbers = itertools.cycle(numbers)

    def __iter__(self):
        return self.numbers


def make_loader():
    return DataLoader(Endless([1, 2, 3]), num_workers=1)


if __name__ == "__main__":
    loader = make_loader()
    for epoch in range(3):
        print(epoch, list(itertools.islice(loader, 5)))
