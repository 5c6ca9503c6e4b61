import torch
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.zeros(index + 1)


if __name__ == "__main__":
    for batch in DataLoader(Sentences(), batch_size=4, num_workers=2):
        print(batch)
