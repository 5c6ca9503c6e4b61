"""The epoch is set through the loader's dataset, a Subset."""

from torch.utils.data import DataLoader, Dataset, Subset


class Epochs(Dataset):
    def __init__(self):
        self._epoch = 0

    def __len__(self):
        return 8

    def set_epoch(self, epoch):
        self._epoch = epoch

    def __getitem__(self, index):
        return self._epoch


def make_loader():
    return DataLoader(Subset(Epochs(), range(4)), batch_size=2, num_workers=2, persistent_workers=True)


def train(epochs):
    loader = make_loader()
    for epoch in range(epochs):
        loader.dataset.dataset.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
