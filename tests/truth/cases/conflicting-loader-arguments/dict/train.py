"""A dict that loaders share brings arguments that need workers."""

import torch
from torch.utils.data import DataLoader, TensorDataset


DATA = TensorDataset(torch.arange(4))
COMMON = dict(batch_size=2, prefetch_factor=4)
KEPT = {"persistent_workers": True}
WORKERS = 0
TOGETHER = {"num_workers": 0, "prefetch_factor": 4}


def trained():
    return DataLoader(DATA, num_workers=2, **COMMON)


def prefetch():
    return DataLoader(DATA, num_workers=0, **COMMON)


def several():
    options = dict(KEPT, timeout=60)
    return DataLoader(DATA, num_workers=0, **options)


def named():
    return DataLoader(DATA, num_workers=WORKERS, **KEPT)


def together():
    return DataLoader(DATA, batch_size=2, **TOGETHER)


LOADERS = (trained, prefetch, several, named, together)
