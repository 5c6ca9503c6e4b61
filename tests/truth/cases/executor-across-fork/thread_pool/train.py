"""The dataset keeps a pool of threads: they start with it."""

from multiprocessing.pool import ThreadPool

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self, threads):
        self.pool = ThreadPool(threads)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return sum(self.pool.map(abs, [index, -index]))


def make_loader():
    return DataLoader(Scenes(2), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
