"""A loop at module level over a loader whose workers are spawned."""

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor(index)


loader = DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context="spawn")
total = 0
for batch in loader:
    total += int(batch.sum())

assert total == 6
