"""Samplers beside what they take the place of."""

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


DATA = TensorDataset(torch.arange(4))


def shuffled():
    return DataLoader(DATA, shuffle=True, sampler=RandomSampler(DATA))


def sized():
    return DataLoader(DATA, batch_size=2, batch_sampler=BatchSampler(RandomSampler(DATA), 2, False))


def unsized():
    return DataLoader(DATA, batch_size=None, batch_sampler=BatchSampler(RandomSampler(DATA), 2, False))


def shuffled_batches():
    return DataLoader(DATA, shuffle=True, batch_sampler=BatchSampler(RandomSampler(DATA), 2, False))


def dropped():
    return DataLoader(DATA, batch_sampler=BatchSampler(RandomSampler(DATA), 2, False), drop_last=True)


def dropped_single():
    return DataLoader(DATA, batch_size=None, drop_last=True)


LOADERS = (shuffled, sized, unsized, shuffled_batches, dropped, dropped_single,)
