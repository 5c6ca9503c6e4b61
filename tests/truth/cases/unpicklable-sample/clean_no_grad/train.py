import torch
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with torch.no_grad():
            one = self.net(torch.ones(4))
        return one, self.net(torch.ones(4)).detach(), self.three(), self.net(torch.ones(4)).argmax()

    @torch.no_grad()
    def three(self):
        return self.net(torch.ones(4)) * 2


def make_loader():
    return DataLoader(Features(), batch_size=2, num_workers=2)
