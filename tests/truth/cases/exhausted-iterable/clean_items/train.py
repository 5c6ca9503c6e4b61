"""Iterators that are made for the epoch, over lists and another dataset."""

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __init__(self, numbers):
        self.numbers = list(map(int, numbers))

    def __iter__(self):
        return iter(self.numbers)


class Doubled(IterableDataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        for number in iter(self.dataset):
            yield number * 2


def make_loader():
    return DataLoader(Doubled(Numbers(range(6))), num_workers=1)


if __name__ == "__main__":
    loader = make_loader()
    for epoch in range(3):
        print(epoch, list(loader))
