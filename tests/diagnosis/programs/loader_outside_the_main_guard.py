import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(8)), num_workers=1, multiprocessing_context="spawn")
for batch in loader:  # cause: unguarded-worker-start
    print(batch)
