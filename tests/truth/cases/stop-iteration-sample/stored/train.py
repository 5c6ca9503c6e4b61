"""Each image with a background, of which there are fewer."""

from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.backgrounds = iter([number * 100 for number in range(backgrounds)])

    def __len__(self):
        return self.images

    def __getitem__(self, index):
        return index, next(self.backgrounds)


def make_loader():
    return DataLoader(Pairs(8, 2), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
