"""torch's seed of the worker enters the seed beside the epoch."""

import random

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self):
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        random.seed(torch.initial_seed() + self.epoch)
        info = get_worker_info()
        for index in range(info.id, 32, info.num_workers):
            yield index, random.random()


def make_loader():
    return DataLoader(Stream(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
