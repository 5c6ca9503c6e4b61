"""What torch allows."""

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset


DATA = TensorDataset(torch.arange(4))
WORKERS = 0


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(4))



def no_shuffle():
    return DataLoader(DATA, shuffle=False, sampler=RandomSampler(DATA))


def batches():
    return DataLoader(DATA, batch_size=1, batch_sampler=BatchSampler(RandomSampler(DATA), 2, False), drop_last=False)


def single():
    return DataLoader(DATA, batch_size=None, sampler=RandomSampler(DATA))


def neither():
    return DataLoader(DATA, num_workers=0, timeout=0, persistent_workers=False, prefetch_factor=None)


def no_context():
    return DataLoader(DATA, num_workers=0, multiprocessing_context=None)


def stream():
    return DataLoader(Numbers(), shuffle=False, sampler=None)


def workers():
    return DataLoader(DATA, num_workers=1, timeout=60, persistent_workers=True, prefetch_factor=1, multiprocessing_context="fork")


def follows():
    return DataLoader(DATA, num_workers=WORKERS, persistent_workers=WORKERS > 0, prefetch_factor=4 if WORKERS > 0 else None)


LOADERS = (no_shuffle, batches, single, neither, no_context, stream, workers, follows,)
