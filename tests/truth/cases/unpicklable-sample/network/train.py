import torch
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.net(torch.ones(4)), index


def make_loader():
    return DataLoader(Features(), batch_size=2, num_workers=2)
