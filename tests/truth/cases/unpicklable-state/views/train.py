from torch.utils.data import DataLoader, Dataset


def rows():
    yield from range(8)


class Rows(Dataset):
    def __init__(self):
        self.labels = {"cat": 0, "dog": 1}
        self.names = self.labels.keys()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
