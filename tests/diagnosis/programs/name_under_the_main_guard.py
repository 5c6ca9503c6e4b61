import torch
from torch.utils.data import DataLoader, Dataset


class Sized(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.zeros(SIZE)  # cause: main-guard-global


if __name__ == "__main__":
    SIZE = 3
    loader = DataLoader(Sized(), num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        print(batch)
