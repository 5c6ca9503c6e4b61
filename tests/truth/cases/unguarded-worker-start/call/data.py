"""The loader is made in another file."""

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(index)


def build(workers):
    return DataLoader(Numbers(), batch_size=2, num_workers=workers, multiprocessing_context="forkserver")
