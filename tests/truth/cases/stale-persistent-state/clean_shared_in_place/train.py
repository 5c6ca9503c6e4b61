"""The epoch is kept in a tensor in shared memory, which `+=` changes in place."""

import torch
from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.epoch = torch.zeros(1, dtype=torch.long)
        self.epoch.share_memory_()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.epoch.item()


def train(epochs):
    dataset = Epochs()
    loader = DataLoader(dataset, batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(1, epochs + 1):
        dataset.epoch += 1
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
