"""Numbers from a file, line by line."""

from pathlib import Path

from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as lines:
            for line in lines:
                number = int(line)
                if number % 10 == 9:
                    continue
                yield number


def make_loader():
    path = Path("numbers.txt")
    path.write_text("".join(f"{number}\n" for number in range(40)))
    return DataLoader(Lines(path), batch_size=3, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
