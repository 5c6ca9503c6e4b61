"""What needs workers, without workers."""

import torch
from torch.utils.data import DataLoader, TensorDataset


DATA = TensorDataset(torch.arange(4))


def persistent():
    return DataLoader(DATA, persistent_workers=True)


def prefetch():
    return DataLoader(DATA, num_workers=0, prefetch_factor=4)


def timeout():
    return DataLoader(DATA, num_workers=0, timeout=60)


def context():
    return DataLoader(DATA, multiprocessing_context="fork", batch_size=2)


LOADERS = (persistent, prefetch, timeout, context,)
