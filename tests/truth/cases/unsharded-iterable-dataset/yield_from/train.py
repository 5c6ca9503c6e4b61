"""Numbers from a file with a header, and from a generator method."""

from pathlib import Path

from torch.utils.data import ChainDataset, DataLoader, IterableDataset


class Rows(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as lines:
            next(lines)
            yield from (int(line) for line in lines)


class Sums(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        yield from self.sums()

    def sums(self):
        total = 1000
        for number in range(1, self.count):
            total += number
            yield total


def make_loader():
    path = Path("numbers.txt")
    path.write_text("number\n" + "".join(f"{number}\n" for number in range(37)))
    return DataLoader(ChainDataset([Rows(path), Sums(10)]), batch_size=3, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
