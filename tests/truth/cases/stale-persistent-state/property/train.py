"""The epoch is set by a property of the loader's dataset."""

from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self._epoch = 0

    def __len__(self):
        return 8

    @property
    def epoch(self):
        return self._epoch

    @epoch.setter
    def epoch(self, epoch):
        self._epoch = epoch

    def __getitem__(self, index):
        return self._epoch


def make_loader():
    return DataLoader(Epochs(), batch_size=2, num_workers=2, persistent_workers=True)


def train(epochs):
    loader = make_loader()
    for epoch in range(epochs):
        loader.dataset.epoch = epoch
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
