"""Each worker makes its own threads: with the first sample, which the main process does not take, and for each."""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self):
        self.executor = None

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if self.executor is None:
            self.executor = ThreadPoolExecutor(2)
        with ThreadPool(2) as pool:
            total = sum(pool.map(abs, [index, -index]))
        return total + sum(self.executor.map(abs, [index, -index]))


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
