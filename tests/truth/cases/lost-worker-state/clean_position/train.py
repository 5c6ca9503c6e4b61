"""The position is set from the sample's index; only within a sample it moves on."""

from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self):
        self.records = list(range(16))
        self.position = 0

    def __len__(self):
        return 8

    def take(self):
        record = self.records[self.position]
        self.position += 1
        return record

    def __getitem__(self, index):
        self.position = 2 * index
        return self.take(), self.take()


def make_loader():
    return DataLoader(Pairs(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
