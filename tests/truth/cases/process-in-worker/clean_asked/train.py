"""The processes are started only where that is allowed, or the error is caught."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


def total(numbers):
    if multiprocessing.current_process().daemon:
        return sum(map(abs, numbers))
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(abs, numbers))


def tried(numbers):
    try:
        with multiprocessing.Pool(2) as pool:
            return sum(pool.map(abs, numbers))
    except AssertionError:
        return sum(map(abs, numbers))


class Scenes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return total([index, -index]) + tried([index])


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
