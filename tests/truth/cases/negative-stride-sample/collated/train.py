"""The samples are arrays, turned upside down; the default collate function makes the tensors."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Series(Dataset):
    def __init__(self, count):
        self.values = np.arange(count * 8.0).reshape(count, 8)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        backwards = self.values[index][::-1]
        return {"series": (backwards, index)}


def make_loader():
    return DataLoader(Series(8), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
