"""The transform grows stronger by the epoch."""

from torch.utils.data import DataLoader, Dataset


class Shift:
    def __init__(self):
        self.strength = 0

    def __call__(self, value):
        return value + self.strength


class Zeros(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(0)


def train(epochs):
    shift = Shift()
    loader = DataLoader(Zeros(shift), batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(epochs):
        shift.strength = epoch
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
