"""A folder for each class."""

import os
from pathlib import Path

from torch.utils.data import DataLoader, Dataset


class Folders(Dataset):
    def __init__(self, root):
        self.classes = [entry.name for entry in os.scandir(root)]
        self.numbers = {name: number for number, name in enumerate(self.classes)}
        self.samples = sorted((name, "one.txt") for name in self.classes)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        name, _ = self.samples[index]
        return name, self.numbers[name]


def make_loader():
    root = Path("data")
    for number in range(20):
        (root / f"class{number:02}").mkdir(parents=True, exist_ok=True)
    return DataLoader(Folders(root), batch_size=4)


if __name__ == "__main__":
    for names, labels in make_loader():
        print(names, labels)
