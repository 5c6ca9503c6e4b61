"""The constructor of a base class has given its executor tasks before the workers start."""

from reading import Reading
from torch.utils.data import DataLoader


class Scenes(Reading):
    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        return self.read(index)


def make_loader():
    return DataLoader(Scenes(range(4)), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
