"""A loader in a loader, without workers of its own."""

from torch.utils.data import DataLoader, IterableDataset


class Tiles(IterableDataset):
    def __init__(self):
        self.tiles = DataLoader(range(4), batch_size=None, num_workers=0)

    def __iter__(self):
        yield from self.tiles


def make_loader():
    return DataLoader(Tiles(), num_workers=1)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
