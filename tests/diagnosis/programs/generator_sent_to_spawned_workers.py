import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.generator = torch.Generator().manual_seed(0)  # cause: shared-generator

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.rand(2, generator=self.generator)


if __name__ == "__main__":
    loader = DataLoader(Noisy(), num_workers=1, multiprocessing_context="spawn")
    for batch in loader:
        print(batch)
