from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, folder):
        self.paths = [Path(folder) / f"{number}.png" for number in range(8)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.zeros(3), self.paths[index]  # cause: uncollatable-sample


if __name__ == "__main__":
    for batch in DataLoader(Files("photos"), batch_size=4, num_workers=2):
        print(batch)
