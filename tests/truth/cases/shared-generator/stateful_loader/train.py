"""torchdata's loader seeds the global states only, as torch's does."""

import numpy as np
from torch.utils.data import Dataset
from torchdata.stateful_dataloader import StatefulDataLoader


class Noisy(Dataset):
    def __init__(self, count):
        self.count = count
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.rng.random()


def plain(samples):
    return [samples]


def make_loader():
    return StatefulDataLoader(Noisy(16), num_workers=4, batch_size=2, collate_fn=plain)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
