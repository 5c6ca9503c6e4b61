"""The loop stands under the guard, the loader above it."""

import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(4)), num_workers=1, multiprocessing_context="forkserver")

if __name__ == "__main__":
    assert sum(int(batch[0].sum()) for batch in loader) == 6
