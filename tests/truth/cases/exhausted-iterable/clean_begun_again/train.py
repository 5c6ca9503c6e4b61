"""A dataset that is its own iterator and begins again."""

from torch.utils.data import DataLoader, IterableDataset


class Windows(IterableDataset):
    def __init__(self, series, width):
        self.series = series
        self.width = width
        self.position = 0

    def __iter__(self):
        self.position = 0
        return self

    def __next__(self):
        if self.position + self.width > len(self.series):
            raise StopIteration
        window = self.series[self.position : self.position + self.width]
        self.position += 1
        return sum(window)


def make_loader():
    return DataLoader(Windows(list(range(10)), 3), num_workers=1, persistent_workers=True)


if __name__ == "__main__":
    loader = make_loader()
    for epoch in range(3):
        print(epoch, list(loader))
