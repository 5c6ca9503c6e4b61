from torch.utils.data import DataLoader, Dataset, Sampler


class ByKey(Sampler):
    def __init__(self, length, key):
        self.length = length
        self.key = key

    def __len__(self):
        return self.length

    def __iter__(self):
        return iter(sorted(range(self.length), key=self.key))


class Rows(Dataset):
    double = lambda self, row: row * 2

    def __init__(self):
        self.order = sorted(range(8), key=lambda row: -row)
        self.first = lambda row: row
        self.first = self.first(self.order[0])
        self.later = None

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if self.later is None:
            self.later = lambda row: row + 1
        return self.later(self.double(float(self.order[index])))


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2, sampler=ByKey(8, key=lambda row: row % 3))
