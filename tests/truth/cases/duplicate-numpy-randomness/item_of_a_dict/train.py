"""The datasets are items of a dictionary, and one of them gets a pipeline, which gets a step later."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Steps:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, value):
        for step in self.steps:
            value = step(value)
        return value


class Noise:
    def __call__(self, value):
        return value + np.random.rand()


class Rows(Dataset):
    def __init__(self, count):
        self.rows = torch.zeros(count)
        self.transform = None

    def set_transform(self, transform):
        self.transform = transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index].item()
        return index, row if self.transform is None else self.transform(row)


def make_loader():
    sets = {name: Rows(16) for name in ("train", "test")}
    pipeline = Steps([])
    sets["train"].set_transform(pipeline)
    pipeline.steps.append(Noise())
    return DataLoader(sets["train"], batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
