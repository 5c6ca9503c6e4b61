import resource

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    loader = DataLoader(TensorDataset(torch.arange(400)), num_workers=2)
    kept = []
    for batch in loader:
        kept.append(batch)  # cause: retained-batches
