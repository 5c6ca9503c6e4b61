"""The worker info is asked for in the constructor, which runs in the main process."""

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count
        info = get_worker_info()
        self.start = 0 if info is None else info.id
        self.step = 1 if info is None else info.num_workers

    def __iter__(self):
        for number in range(self.start, self.count, self.step):
            yield torch.tensor(number)


def make_loader():
    return DataLoader(Numbers(16), batch_size=2, num_workers=4)
