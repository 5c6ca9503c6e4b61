import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index % 2:
            return None  # cause: none-sample
        return torch.zeros(3)


if __name__ == "__main__":
    for batch in DataLoader(Images(), batch_size=4, num_workers=2):
        print(batch)
