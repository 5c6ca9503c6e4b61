"""The dataset remembers its samples in a list of places, filled by a helper."""

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, count):
        self.count = count
        self.texts = [None] * count

    def __len__(self):
        return self.count

    def load(self, number):
        if self.texts[number] is not None:
            return 1
        self.texts[number] = "text" * number
        return 0

    def __getitem__(self, index):
        return self.load(index)


def make_loader():
    return DataLoader(Numbers(8), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
