"""Numbers from an iterator that the constructor makes."""

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __init__(self, numbers):
        self.stream = iter(numbers)

    def __iter__(self):
        return self.stream


def make_loader():
    return DataLoader(Numbers(range(6)), batch_size=2)


if __name__ == "__main__":
    loader = make_loader()
    for epoch in range(3):
        print(epoch, list(loader))
