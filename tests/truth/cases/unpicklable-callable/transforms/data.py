from collections import defaultdict

from torch.utils.data import Dataset


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, row):
        for step in self.steps:
            row = step(row)
        return row


class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform
        self.weights = defaultdict(lambda: 1.0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(index) * self.weights[index]
