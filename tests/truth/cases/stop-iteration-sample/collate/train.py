"""Batches with names, of which there are fewer."""

import torch
from torch.utils.data import DataLoader, Dataset

names = iter(["a", "b"])


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


def name_batch(samples):
    return next(names), torch.tensor(samples)


def make_loader():
    return DataLoader(Numbers(), batch_size=1, collate_fn=name_batch, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
