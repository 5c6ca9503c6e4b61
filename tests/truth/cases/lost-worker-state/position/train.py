"""The dataset walks over its records by a position of its own."""

from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self):
        self.records = list(range(8))
        self.position = 0

    def __len__(self):
        return 8

    def __getitem__(self, index):
        record = self.records[self.position]
        self.position += 1
        if self.position == len(self.records):
            self.position = 0
        return record


def make_loader():
    return DataLoader(Records(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
