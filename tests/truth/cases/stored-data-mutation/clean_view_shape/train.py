"""Views of the stored tensors get another shape; the workers persist."""

import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, count):
        self.points = [torch.arange(6.0).reshape(3, 2) + number for number in range(count)]

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        first = self.points[index][:, 0]
        first.unsqueeze_(1)
        turned = self.points[index].T
        turned.t_()
        return first, turned


def make_loader():
    return DataLoader(Points(8), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return torch.stack(dataset.points)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
