"""One worker reads everything once."""

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __init__(self, last):
        self.last = last

    def __iter__(self):
        yield from range(self.last)


def make_loader():
    return DataLoader(Numbers(40), batch_size=3, num_workers=1)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
