"""Values that are wrong by themselves."""

import torch
from torch.utils.data import DataLoader, TensorDataset


DATA = TensorDataset(torch.arange(4))


def workers():
    return DataLoader(DATA, num_workers=-1)


def none():
    return DataLoader(DATA, num_workers=None)


def half():
    return DataLoader(DATA, num_workers=4 / 2)


def timeout():
    return DataLoader(DATA, num_workers=1, timeout=-1)


def prefetch():
    return DataLoader(DATA, num_workers=1, prefetch_factor=-1)


def no_prefetch():
    return DataLoader(DATA, num_workers=1, prefetch_factor=0)


def size():
    return DataLoader(DATA, batch_size=0)


def context():
    return DataLoader(DATA, num_workers=1, multiprocessing_context="thread")


LOADERS = (workers, none, half, timeout, prefetch, no_prefetch, size, context,)
