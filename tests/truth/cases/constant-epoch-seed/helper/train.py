import numpy as np
from seeding import set_seed
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return index, np.random.rand()


def run_epoch(loader, seen):
    for indices, numbers in loader:
        seen[0].extend(indices.tolist())
        seen[1].extend(numbers.tolist())


def train(epochs):
    train_loader = DataLoader(Noise(), batch_size=4, shuffle=True, num_workers=2)
    seen = []
    for epoch in range(epochs):
        set_seed(42)
        seen.append(([], []))
        run_epoch(train_loader, seen[-1])
    return seen
