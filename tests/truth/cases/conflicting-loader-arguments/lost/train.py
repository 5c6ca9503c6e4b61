"""What the author wants goes with the argument."""

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset


DATA = TensorDataset(torch.arange(4))


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(4))



def both():
    return DataLoader(DATA, sampler=RandomSampler(DATA), batch_sampler=BatchSampler(RandomSampler(DATA), 2, False))


def shuffled():
    return DataLoader(Numbers(), shuffle=True)


def sampled():
    return DataLoader(Numbers(), sampler=RandomSampler(DATA))


def batched():
    return DataLoader(Numbers(), batch_sampler=BatchSampler(RandomSampler(DATA), 2, False))


LOADERS = (both, shuffled, sampled, batched,)
