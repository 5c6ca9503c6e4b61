"""The epoch is kept in a tensor that all processes share."""

import torch
from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.epoch = torch.zeros((), dtype=torch.long).share_memory_()

    def __len__(self):
        return 4

    def set_epoch(self, epoch):
        self.epoch.fill_(epoch)

    def __getitem__(self, index):
        return self.epoch.item()


def train(epochs):
    dataset = Epochs()
    loader = DataLoader(dataset, batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(epochs):
        dataset.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
