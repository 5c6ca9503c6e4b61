"""Threads and other programs: no child of multiprocessing."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        subprocess.run(["true"], check=True)
        with ThreadPoolExecutor(2) as executor:
            first = sum(executor.map(abs, [index, -index]))
        with ThreadPool(2) as pool:
            return first + sum(pool.map(abs, [index, -index]))


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
