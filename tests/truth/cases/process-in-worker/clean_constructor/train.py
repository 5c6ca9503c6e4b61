"""The pool and the manager are the main process's; the workers use what the manager holds."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self):
        with multiprocessing.Pool(2) as pool:
            self.sizes = pool.map(abs, range(4))
        self.manager = multiprocessing.Manager()
        self.shared = self.manager.dict()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.shared[index] = True
        return self.sizes[index]


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
