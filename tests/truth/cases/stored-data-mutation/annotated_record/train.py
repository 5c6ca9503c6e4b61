"""An annotation says that a record holds lists of numbers; boxes and an array are scaled where they lie."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, records: list[dict[str, np.ndarray | list[float] | str]]):
        self.records = records

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        record["boxes"] *= 0.5
        record["steps"] += [0.5]
        return record["boxes"], len(record["steps"])


def read(count):
    return [{"boxes": np.full((1, 4), 1.0 + number), "steps": [1.0], "name": "a"} for number in range(count)]


def make_loader(count=8):
    return DataLoader(Boxes(read(count)), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return [np.append(record["boxes"], len(record["steps"])) for record in dataset.records]


if __name__ == "__main__":
    for boxes, steps in make_loader():
        print(boxes, steps)
