import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, factor):
        self.transform = lambda x: x * factor  # cause: unpicklable-callable

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(torch.tensor(index))


if __name__ == "__main__":
    for batch in DataLoader(Scaled(2), num_workers=2, multiprocessing_context="spawn"):
        print(batch)
