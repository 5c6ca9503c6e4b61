"""The collate function counts its batches; each worker has a copy of it that begins at the same number."""

import torch
from torch.utils.data import DataLoader, TensorDataset, default_collate


class Masked:
    def __init__(self, seed):
        self.seed = seed
        self.step = 0

    def __call__(self, samples):
        self.step += 1
        torch.manual_seed(self.seed + self.step)
        return default_collate(samples)[0], torch.rand(len(samples), dtype=torch.float64)


def make_loader():
    return DataLoader(TensorDataset(torch.arange(32)), batch_size=2, num_workers=4, collate_fn=Masked(0))


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
