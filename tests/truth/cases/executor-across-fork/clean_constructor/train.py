"""The pools are the constructor's; the workers read what they made."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self):
        with ThreadPool(2) as pool, multiprocessing.Pool(2) as processes:
            self.sizes = pool.map(abs, range(4)) + processes.map(abs, range(4))
        self.executor = ThreadPoolExecutor(2)
        self.more = list(self.executor.map(abs, range(4)))

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.sizes[index] + self.more[index]


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
