import torch
from torch.utils.data import DataLoader, Dataset


class Table(Dataset):
    def __init__(self):
        self.rows = torch.nn.Parameter(torch.ones(8, 3))

    def __len__(self):
        return 8

    def __getitem__(self, index):
        row = self.rows[index] * 2
        return row


def make_loader():
    return DataLoader(Table(), batch_size=None, num_workers=2)
