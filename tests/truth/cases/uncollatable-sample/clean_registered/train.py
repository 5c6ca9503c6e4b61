"""The project says how its class is batched."""

from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data._utils.collate import default_collate_fn_map


@dataclass
class Sample:
    values: torch.Tensor


def collate_samples(batch, *, collate_fn_map=None):
    return torch.stack([one.values for one in batch])


default_collate_fn_map[Sample] = collate_samples


class Samples(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return Sample(torch.zeros(3))


def make_loader():
    return DataLoader(Samples(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
