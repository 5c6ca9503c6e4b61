"""The dataset keeps a pool of processes: the threads that feed it are the main process's."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self):
        self.pool = multiprocessing.Pool(2)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return sum(self.pool.map(abs, [index, -index]))


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
