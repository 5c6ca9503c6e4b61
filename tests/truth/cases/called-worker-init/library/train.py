"""A library's seeding function is called where a function should be passed."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader():
    return DataLoader(TensorDataset(torch.arange(8)), batch_size=2, num_workers=2, worker_init_fn=torch.manual_seed(0))
