"""Forked workers have the globals of the main process."""

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(index) * SCALE


if __name__ == "__main__":
    SCALE = 3
    loader = DataLoader(Numbers(), num_workers=1, multiprocessing_context="fork")
    assert sum(int(batch.sum()) for batch in loader) == 18
