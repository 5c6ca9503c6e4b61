"""A constant says that there are no workers; the arguments follow it after the fix."""

import torch
from torch.utils.data import DataLoader, TensorDataset


DATA = TensorDataset(torch.arange(4))
WORKERS = 0


def persistent():
    return DataLoader(DATA, num_workers=WORKERS, persistent_workers=True)


def prefetch():
    return DataLoader(DATA, num_workers=WORKERS, prefetch_factor=4)


def timeout():
    return DataLoader(DATA, num_workers=WORKERS, timeout=60)


def context():
    return DataLoader(DATA, num_workers=WORKERS, multiprocessing_context="fork")


LOADERS = (persistent, prefetch, timeout, context,)
