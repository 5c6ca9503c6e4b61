"""The worker_init_fn takes no argument."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def prepare():
    torch.set_flush_denormal(True)


def make_loader():
    return DataLoader(TensorDataset(torch.arange(8)), batch_size=2, num_workers=2, worker_init_fn=prepare)
