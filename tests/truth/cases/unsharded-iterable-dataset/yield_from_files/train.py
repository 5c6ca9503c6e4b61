"""Numbers from several files, each of which a loop yields from: opened, entered, and read by a method."""

from pathlib import Path

from torch.utils.data import ChainDataset, DataLoader, IterableDataset


class Opened(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for path in self.paths:
            yield from map(int, open(path))


class Entered(Opened):
    def __iter__(self):
        for path in self.paths:
            with open(path) as lines:
                yield from (int(line) for line in lines)


class Read(Opened):
    def __iter__(self):
        for path in self.paths:
            yield from self.read(path)

    def read(self, path):
        with open(path) as lines:
            for line in lines:
                yield int(line)


def write_numbers(name, first):
    paths = [Path(f"{name}{number}.txt") for number in range(5)]
    for number, path in enumerate(paths):
        path.write_text("".join(f"{first + 10 * number + digit}\n" for digit in range(10)))
    return paths


def make_loader():
    parts = Opened(write_numbers("a", 0)), Entered(write_numbers("b", 100)), Read(write_numbers("c", 200))
    return DataLoader(ChainDataset(parts), batch_size=3, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
