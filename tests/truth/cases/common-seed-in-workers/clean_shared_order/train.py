"""All workers shuffle alike, and each takes its part."""

import random

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self):
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        random.seed(self.epoch)
        order = list(range(32))
        random.shuffle(order)
        info = get_worker_info()
        yield from order[info.id :: info.num_workers]


def make_loader():
    return DataLoader(Stream(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
