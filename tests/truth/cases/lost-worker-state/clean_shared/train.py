"""The dataset counts its samples in memory that all processes share."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.seen = multiprocessing.get_context("fork").Value("i", 0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.seen.get_lock():
            self.seen.value += 1
        return index


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2)


def counted(dataset):
    return dataset.seen.value


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
