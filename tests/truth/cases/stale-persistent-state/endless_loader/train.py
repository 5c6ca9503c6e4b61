"""A loader that makes its only iterator in its constructor: the workers never end."""

from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.epoch


class Repeat:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class InfiniteDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


def train(epochs):
    dataset = Epochs()
    loader = InfiniteDataLoader(dataset, batch_size=2, num_workers=2)
    for epoch in range(epochs):
        dataset.epoch = epoch
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
