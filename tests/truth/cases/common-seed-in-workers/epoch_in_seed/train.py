"""Each worker reads its own items, with the noise that the epoch gives to all of them."""

import random

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, seed):
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        random.seed(self.seed + self.epoch)
        info = get_worker_info()
        for index in range(info.id, 32, info.num_workers):
            yield index, random.random()


def make_loader():
    return DataLoader(Stream(seed=7), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
