"""The workers start anew in each epoch."""

from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.epoch


def train(epochs):
    dataset = Epochs()
    loader = DataLoader(dataset, batch_size=2, num_workers=2)
    for epoch in range(epochs):
        dataset.epoch = epoch
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
