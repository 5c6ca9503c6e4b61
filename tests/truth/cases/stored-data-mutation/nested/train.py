"""Annotations are dictionaries of arrays; the boxes are scaled where they lie."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, count):
        self.annotations = [{"boxes": np.full((1, 4), 1.0 + number), "label": number} for number in range(count)]

    def __len__(self):
        return len(self.annotations)

    def __getitem__(self, index):
        target = self.annotations[index]
        target["boxes"] *= 0.5
        return target["boxes"], target["label"]


def make_loader():
    return DataLoader(Boxes(8), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return [annotation["boxes"] for annotation in dataset.annotations]


if __name__ == "__main__":
    for boxes, labels in make_loader():
        print(boxes, labels)
