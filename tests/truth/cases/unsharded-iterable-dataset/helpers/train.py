"""The stream comes from a helper; there are two loaders."""

from torch.utils.data import ChainDataset, DataLoader, IterableDataset

from stream import read_records


class Records(IterableDataset):
    def __init__(self, first, last):
        self.first = first
        self.last = last

    def __iter__(self):
        return iter(read_records(self.first, self.last))


class Pairs(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        yield from range(1000, 1000 + self.count)
        for first in range(self.count):
            for second in range(3):
                yield 2000 + 10 * first + second


def make_loader():
    return DataLoader(ChainDataset([Records(0, 20), Pairs(5)]), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
