import math

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.math = math

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
