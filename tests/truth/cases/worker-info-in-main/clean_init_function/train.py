"""The worker_init_fn sets up the dataset in each worker."""

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count
        self.setup()

    def setup(self):
        info = get_worker_info()
        self.start = 0 if info is None else info.id
        self.step = 1 if info is None else info.num_workers

    def __iter__(self):
        for number in range(self.start, self.count, self.step):
            yield torch.tensor(number)


def shard(worker_id):
    get_worker_info().dataset.setup()


def make_loader():
    return DataLoader(Numbers(16), batch_size=2, num_workers=4, worker_init_fn=shard)
