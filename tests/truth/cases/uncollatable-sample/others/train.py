"""What a helper makes of a line."""

from datetime import datetime

import torch
from torch.utils.data import DataLoader, IterableDataset

LINES = ["2024-01-01,1.0", "2024-01-02,2.0"]


def parsed(line):
    when, value = line.split(",")
    return {"when": datetime.fromisoformat(when), "value": torch.tensor(float(value))}


class Readings(IterableDataset):
    def __iter__(self):
        for line in LINES:
            yield parsed(line)


def make_loader():
    return DataLoader(Readings(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
