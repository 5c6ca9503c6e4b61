import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return index, torch.rand(())


def train(epochs):
    """The samples and what the workers drew for them, by epoch."""
    generator = torch.Generator()
    generator.manual_seed(42)
    train_loader = DataLoader(Noise(), batch_size=4, shuffle=True, num_workers=2, generator=generator)
    seen = []
    for epoch in range(epochs):
        torch.manual_seed(42)
        seen.append(([], []))
        for indices, numbers in train_loader:
            seen[-1][0].extend(indices.tolist())
            seen[-1][1].extend(numbers.tolist())
    return seen
