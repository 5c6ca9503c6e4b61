import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset


class Parallel(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        with multiprocessing.Pool(2) as pool:  # cause: process-in-worker
            return torch.tensor(pool.map(abs, [index, -index]))


if __name__ == "__main__":
    for batch in DataLoader(Parallel(), num_workers=2):
        print(batch)
