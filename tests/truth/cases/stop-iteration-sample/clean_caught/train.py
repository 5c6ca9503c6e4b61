"""Each image with a background; those that run out are begun again, and a search has a default."""

from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.names = list(range(backgrounds))
        self.backgrounds = iter(self.names)

    def __len__(self):
        return self.images

    def __getitem__(self, index):
        found = next((name for name in self.names if name == index), -1)
        try:
            return index, next(self.backgrounds), found
        except StopIteration:
            self.backgrounds = iter(self.names)
            return index, next(self.backgrounds), found


def make_loader():
    return DataLoader(Pairs(8, 2), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
