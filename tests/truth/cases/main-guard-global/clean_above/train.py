"""Bound above the guard; every worker has it."""

import torch
from torch.utils.data import DataLoader, Dataset

SCALE = 3


class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(index) * SCALE


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Numbers(), num_workers=1, multiprocessing_context="forkserver")
    assert sum(int(batch.sum()) for batch in loader) == 18
